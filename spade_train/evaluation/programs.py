"""LiveCodeBench's functional problems (arXiv 2403.07974) from a local copy.

A program that a model wrote runs in a worker, as designs do, under their language: no imports of files or network, and
no ``input``. Problems that read standard input cannot be judged so and are left out, which the suite's note says.
"""

from __future__ import annotations

import base64
import io
import json
import pickle
import re
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from spade_envs import IsolatedEnv
from spade_envs.errors import WorkerFault
from spade_train.evaluation.local import LONG, sourced, text_of
from spade_train.evaluation.questions import Question, question_suite
from spade_train.evaluation.rows import read_rows
from spade_train.evaluation.suite import Options, Skipped, Suite

NAME = "livecodebench"
RULES = (
    "Solve the problem in Python with the given signature. Write the whole program as <answer>...</answer>."
)
_FENCE = re.compile(r"```\w*\n(.*?)```", re.DOTALL)

JUDGE = '''\
# /// spade
# id = "spade/ProgramJudge-v0"
# title = "Program judge"
# summary = "Runs a program on the inputs of its tests."
# domain = "code"
# skills = ["programming"]
# origin = "seed"
# max_episode_steps = 1
# license = "Apache-2.0"
# contract = 1
# ///
import json

import gymnasium as gym
from gymnasium import spaces

from spade_envs import run_program


class ProgramJudge(gym.Env):
    """Give a program, the name of its function, and arguments, as JSON."""

    def __init__(self, render_mode=None):
        self.render_mode = render_mode
        self.action_space = spaces.Text(400000, min_length=0)
        self.observation_space = spaces.Text(100, min_length=0)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return "", {}

    def step(self, action):
        program, function, tests = json.loads(action)
        for arguments, right in tests:
            given = run_program(program, function, arguments)
            if "error" in given or given["result"] != right:
                return "wrong", 0.0, True, False, {"is_success": False}
        return "right", 1.0, True, False, {"is_success": True}

    def hint(self):
        return ""

    def expert_action(self):
        return ""
'''

# The first line ends the model's text: a decorator there must not be one of what follows.
_CALL = """
pass
def spade_solution(*arguments):
    return {call}(*arguments)
"""


def livecodebench(options: Options) -> Suite | Skipped:
    """Return the problems that a call of one function solves."""
    path = sourced(NAME, options)
    if isinstance(path, Skipped):
        return path
    rows = read_rows(path)
    read = [_question(f"{path.name} row {number}", number, row) for number, row in enumerate(rows, 1)]
    questions = [one for one in read if one is not None]
    if not questions:
        return Skipped(NAME, f"{path} has no problem that a call of one function solves")
    left = (
        f"{len(rows) - len(questions)} of {len(rows)} read standard input"
        if len(questions) < len(rows)
        else ""
    )
    return question_suite(
        NAME, questions[: options.items], tokens=LONG, rules=RULES, note=left and f"left out: {left}"
    )


def passes(program: str, call: str, tests: Sequence[tuple[list[Any], Any]]) -> bool:
    """Whether a program passes every test; one that ends its worker, or takes it too long, does not."""
    whole = program + _CALL.format(call=call)
    try:
        env = IsolatedEnv(JUDGE)
    except WorkerFault:
        return False
    try:
        env.reset(seed=0)
        *_, info = env.step(json.dumps([whole, "spade_solution", list(tests)]))
        return bool(info.get("is_success", False))
    except WorkerFault:
        return False
    finally:
        env.close()


def _question(place: str, number: int, row: Mapping[str, Any]) -> Question | None:
    tests = [*_tests(row.get("public_test_cases")), *_tests(row.get("private_test_cases"))]
    starter = str(row.get("starter_code") or "")
    if not tests or not starter or any(one.get("testtype") != "functional" for one in tests):
        return None
    metadata = row.get("metadata") or "{}"
    about = json.loads(metadata) if isinstance(metadata, str) else metadata
    name = about.get("func_name", "")
    call = f"Solution().{name}" if "class Solution" in starter else name
    pairs = [
        ([json.loads(line) for line in one["input"].splitlines()], json.loads(one["output"])) for one in tests
    ]
    content = text_of(place, row, ("question_content",))
    return Question(
        str(row.get("question_id") or number),
        f"{content}\n\n{starter}",
        lambda answer: passes(_program(answer), call, pairs),
    )


def _program(answer: str) -> str:
    fenced = _FENCE.findall(answer)
    return str(fenced[-1]) if fenced else answer


def _tests(given: Any) -> list[dict[str, Any]]:
    """Read tests: a list, JSON, or JSON that was pickled as a text, packed and written in base 64."""
    if not given:
        return []
    if isinstance(given, list):
        return given
    try:
        return list(json.loads(given))
    except ValueError:
        packed = zlib.decompress(base64.b64decode(given))
        return list(json.loads(_Texts(io.BytesIO(packed)).load()))


class _Texts(pickle.Unpickler):
    """Reads texts and nothing else: a pickle that names anything at all is refused."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"{module}.{name} is no text")
