"""Suites of other packages, which stand-ins take the place of: what is asked of them, what counts, what is skipped."""

from __future__ import annotations

import importlib
import json
import os
import random
import sys
from pathlib import Path

import pytest

from spade_envs.errors import UsageError, WorkerFault
from spade_train.evaluation import Options, Skipped, Suite
from spade_train.evaluation.bfcl import BfclEnv
from spade_train.evaluation.suites import make_suites

FACTORY = """
import random

class Sums:
    def __init__(self, seed, size):
        self.seed = seed

    def __getitem__(self, number):
        random.seed(self.seed + number)
        return {"question": f"{number} + {random.randrange(9)}?", "answer": str(number)}

    def score_answer(self, answer, entry):
        return 1.0 if answer == entry["answer"] else 0.5 if entry["answer"] in answer else 0.0

class Broken:
    def __init__(self, seed, size):
        raise ImportError("wants more")

DATASETS = {"sums": None, "broken": None, "composite": None}
CURRICULA = {}

def create_curriculum(name):
    raise KeyError(name)

def create_dataset(name, **settings):
    return {"sums": Sums, "broken": Broken}[name](**settings)
"""


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages that hides those that are installed."""
    for name in [one for one in sys.modules if one.partition(".")[0] in ("reasoning_gym", "bfcl_eval")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    return tmp_path


def test_a_puzzle_is_solved_by_a_whole_score_alone(packages: Path) -> None:
    (packages / "reasoning_gym").mkdir()
    (packages / "reasoning_gym" / "__init__.py").write_text("")
    (packages / "reasoning_gym" / "factory.py").write_text(FACTORY)
    before = random.getstate()
    (made,) = make_suites(["reasoning-gym"], Options(items=3, seed=5))
    assert isinstance(made, Suite)
    assert random.getstate() == before
    assert [one.env_id for one in made.items] == [f"reasoning-gym/sums-{n}" for n in range(3)]
    assert made.note == "left out: broken (ImportError)"
    env = made.make(made.items[2].env_id)
    for answer, won in (("2", True), ("it is 2", False), ("3", False)):
        env.reset(seed=2)
        assert env.step(f"<answer>{answer}</answer>")[4]["is_success"] is won
    (broken,) = make_suites(["reasoning-gym=broken"], Options())
    assert isinstance(broken, Skipped)
    with pytest.raises(UsageError, match="no such puzzles"):
        make_suites(["reasoning-gym=sudokus"], Options())


CHECKER = """
def multi_turn_checker(said, truth, entry, category, name):
    print("noise on standard output")
    return {"valid": [[call for step in turn for call in step] for turn in said] == truth}
"""
UTILS = """
import os, time
KEPT = []
def execute_multi_turn_func_call(*, func_call_list, **about):
    print("noise on standard output")
    if any("die" in one for one in func_call_list):
        os._exit(1)
    if any("hang" in one for one in func_call_list):
        time.sleep(60)
    KEPT.extend(func_call_list)
    return [f"{len(KEPT)} calls so far" for _ in func_call_list], {}
"""


@pytest.fixture
def bfcl(packages: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    package = packages / "bfcl_eval"
    judge = package / "eval_checker" / "multi_turn_eval"
    for folder in (judge, package / "data" / "possible_answer", package / "data" / "multi_turn_func_doc"):
        folder.mkdir(parents=True)
    for folder in (package, judge.parent, judge):
        (folder / "__init__.py").write_text("")
    (judge / "multi_turn_checker.py").write_text(CHECKER)
    (judge / "multi_turn_utils.py").write_text(UTILS)
    from spade_train.evaluation.bfcl import _FILES, CATEGORIES

    functions = [
        {"name": name, "description": "", "parameters": {}} for name in ("go", "late", "die", "hang")
    ]
    for file in _FILES.values():
        (package / "data" / "multi_turn_func_doc" / f"{file}.json").write_text(
            "\n".join(map(json.dumps, functions))
        )
    for name in CATEGORIES:
        entry = {
            "id": f"multi_turn_{name}_0",
            "question": [
                [{"role": "user", "content": "Go."}],
                [] if name == "miss_func" else [{"content": "Again."}],
            ],
            "initial_config": {},
            "involved_classes": ["MathAPI"],
            **({"missed_function": {"1": ["late"]}} if name == "miss_func" else {}),
        }
        right = {
            "id": entry["id"],
            "ground_truth": [["go(n=1)"], ["late(n=2)" if name == "miss_func" else "go(n=2)"]],
        }
        file = f"BFCL_v4_multi_turn_{name}.json"
        (package / "data" / file).write_text(json.dumps(entry))
        (package / "data" / "possible_answer" / file).write_text(json.dumps(right))
    monkeypatch.setenv("PYTHONPATH", f"{packages}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    return package


def opened(word: str, number: int = 0) -> BfclEnv:
    (made,) = make_suites([word], Options(items=9))
    assert isinstance(made, Suite), made
    env = made.make(made.items[number].env_id)
    assert isinstance(env, BfclEnv)
    return env


def test_bfcl_goes_from_request_to_request_and_is_judged_at_the_end(bfcl: Path) -> None:
    env = opened("bfcl=base")
    for calls, won in ((("go(n=1)", "go(n=2)"), True), (("go(n=1)", "go(n=3)"), False)):
        assert env.reset()[0] == "Go."
        assert env.step(f"[{calls[0]}]")[:4] == ("go: 1 calls so far", 0.0, False, False), (
            "a process of its own"
        )
        assert env.step("I have gone.")[0] == "Again."
        env.step(f"[{calls[1]}, unknown(a=1)]")
        seen, reward, terminated, _, info = env.step("Done.")
        assert (seen, reward, terminated, info["is_success"]) == ("", float(won), True, won)
    env.close()


def test_bfcl_holds_functions_back(bfcl: Path) -> None:
    env = opened("bfcl=miss_func")
    assert '"late"' not in env.rules
    env.reset()
    env.step("[go(n=1)]")
    assert '"late"' in env.step("That is all I can do.")[0]
    env.step("[late(n=2)]")
    assert env.step("Done.")[4]["is_success"]
    env.close()


def test_a_process_that_dies_or_hangs_is_a_fault(bfcl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spade_train.evaluation.bfcl.SECONDS", 3.0)
    env = opened("bfcl", 0)
    for call in ("die()", "hang()"):
        env.reset()
        with pytest.raises(WorkerFault):
            env.step(f"[{call}]")


def test_no_request_takes_endless_replies(bfcl: Path) -> None:
    env = opened("bfcl=base")
    env.reset()
    answers = [env.step("[go(n=1)]")[0] for _ in range(20)]
    assert answers[-1] == "Again."
    assert answers[-2] == "go: 19 calls so far"
    env.close()


def test_another_layout_of_bfcl_is_skipped(bfcl: Path) -> None:
    (bfcl / "data" / "BFCL_v4_multi_turn_base.json").unlink()
    (made,) = make_suites(["bfcl=base"], Options())
    assert isinstance(made, Skipped)
    assert "keeps its tasks otherwise" in made.why


def test_suites_by_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    points = {
        "good": "suite_package:good",
        "odd": "suite_package:odd",
        "broken": "suite_package:broken",
        "gone": "nowhere:x",
    }
    folder = tmp_path / "suite_package-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: suite-package\nVersion: 1\n")
    rows = "\n".join(f"{name} = {value}" for name, value in points.items())
    (folder / "entry_points.txt").write_text(f"[spade_train.suites]\n{rows}\n")
    (tmp_path / "suite_package.py").write_text(
        "from spade_train.evaluation import Skipped\n"
        "def good(options):\n    return Skipped('good', f'{options.given} {options.items}')\n"
        "def odd(options):\n    return 3\n"
        "def broken(options):\n    raise KeyError('x')\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    (made,) = make_suites(["good=here"], Options(items=7))
    assert made == Skipped("good", "here 7")
    for name, found in (("odd", "returned a int"), ("broken", "broke down"), ("gone", "cannot be loaded")):
        with pytest.raises(UsageError, match=found):
            make_suites([name], Options())
