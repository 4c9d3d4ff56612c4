"""BFCL v4's multi-turn tasks: ``bfcl-eval``, installed without what it depends on.

``pip install --no-deps bfcl-eval`` (and ``mpmath``): it pins other versions of packages that the trainer needs. Its
tasks and its judge run in a process of their own for each episode, since it keeps its state in global names and
evaluates calls as text; what it is given are calls that were read as literals and written anew.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from spade_envs.errors import UsageError, WorkerFault
from spade_train.evaluation.calls import Call, read_calls
from spade_train.evaluation.rows import read_rows
from spade_train.evaluation.suite import Item, Options, Skipped, Suite

NAME = "bfcl"
CATEGORIES = ("base", "miss_func", "miss_param", "long_context")
STEPS = 20
"""Replies to one request, as BFCL's own limit has it."""
SECONDS = 60.0
"""Of one request to the process of BFCL, which the first time imports it."""
TOKENS = 4096

PROCESS = (sys.executable, "-P", str(Path(__file__).with_name("bfcl_process.py")))
"""By its path, so that nothing of the trainer is imported with it."""

RULES = (
    "You act for a user by calling functions. Answer each message with the calls to make now, and nothing else: "
    '[name(argument=value), other_name(argument="text")]. You are told what they return and may call again. When the '
    "request is carried out, or cannot be, answer in words without a call; then the user goes on.\n\nFunctions:\n"
)
MORE = "These functions can be called from now on, too:\n"


def bfcl(options: Options) -> Suite | Skipped:
    """Return tasks of all four categories in turn, or of one: ``bfcl=base``."""
    spec = importlib.util.find_spec("bfcl_eval")
    if spec is None or not spec.submodule_search_locations:
        return Skipped(
            NAME, "bfcl-eval is not installed: pip install --no-deps bfcl-eval, and pip install mpmath"
        )
    if options.given and options.given not in CATEGORIES:
        raise UsageError(f"{NAME}={options.given}: its categories are {', '.join(CATEGORIES)}.")
    try:
        tasks = _Tasks(Path(next(iter(spec.submodule_search_locations))))
        chosen = tasks.chosen([options.given] if options.given else list(CATEGORIES), options.items)
    except (UsageError, KeyError, OSError) as problem:
        return Skipped(NAME, f"this version of bfcl-eval keeps its tasks otherwise: {problem}")
    entries = {f"{NAME}/{one['id']}": one for one in chosen}
    return Suite(
        NAME,
        tuple(Item(name, 0) for name in entries),
        lambda env_id, **_: BfclEnv(entries[env_id], tasks.functions(entries[env_id])),
        completion=TOKENS,
        turn=512,
    )


class _Tasks:
    """The data that the package holds."""

    def __init__(self, package: Path) -> None:
        self._data = package / "data"

    def chosen(self, categories: Sequence[str], count: int) -> list[dict[str, Any]]:
        """Return tasks with their right calls, of each category in turn."""
        sets = [self._read(f"BFCL_v4_multi_turn_{name}.json") for name in categories]
        longest = max(map(len, sets))
        return [one[n] for n in range(longest) for one in sets if n < len(one)][:count]

    def functions(self, entry: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the description of every function of a task."""
        return [one for name in entry["involved_classes"] for one in self._described[name]]

    def _read(self, file: str) -> list[dict[str, Any]]:
        right = {one["id"]: one["ground_truth"] for one in read_rows(self._data / "possible_answer" / file)}
        return [{**one, "ground_truth": right[one["id"]]} for one in read_rows(self._data / file)]

    @cached_property
    def _described(self) -> dict[str, list[dict[str, Any]]]:
        folder = self._data / "multi_turn_func_doc"
        return {name: read_rows(folder / f"{file}.json") for name, file in _FILES.items()}


_FILES = {
    "GorillaFileSystem": "gorilla_file_system",
    "MathAPI": "math_api",
    "MessageAPI": "message_api",
    "TwitterAPI": "posting_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "VehicleControlAPI": "vehicle_control",
}


class BfclEnv:
    """One task: the user's requests one after the other, calls in between; judged at the end.

    Args:
        entry: the task, with its right calls.
        functions: described, all of them.
        command: what starts the process that holds BFCL.
    """

    tools: list[dict[str, Any]] = []

    def __init__(
        self,
        entry: Mapping[str, Any],
        functions: Sequence[Mapping[str, Any]],
        command: Sequence[str] = PROCESS,
    ) -> None:
        self._entry, self._command = entry, command
        missed = entry.get("missed_function", {})
        self._later = {
            int(turn): [one for one in functions if one["name"] in names] for turn, names in missed.items()
        }
        late = {one["name"] for of_turn in self._later.values() for one in of_turn}
        self._known = {str(one["name"]) for one in functions}
        self.rules = RULES + _listed([one for one in functions if one["name"] not in late])
        self.turn_limit = STEPS * len(entry["question"])
        self._process: subprocess.Popen[str] | None = None

    def reset(self, *, seed: int | None = None) -> tuple[str, dict[str, Any]]:  # noqa: ARG002 - nothing is drawn
        """Begin with the first request."""
        self.close()
        self._said: list[list[list[str]]] = [[]]
        return self._request(), {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Carry calls out; a reply without one ends the request."""
        calls = [one for one in read_calls(action) if one.name in self._known]
        if calls:
            self._said[-1].append([one.source() for one in calls])
            answers = self._ask("call", calls=self._said[-1][-1])
            if len(self._said[-1]) < STEPS:
                return _answered(calls, answers), 0.0, False, False, {"is_success": False}
        if len(self._said) < len(self._entry["question"]):
            self._said.append([])
            return self._request(), 0.0, False, False, {"is_success": False}
        won = bool(self._ask("judge", said=self._said))
        return "", float(won), True, False, {"is_success": won}

    def hint(self) -> str:
        """There is none."""
        return ""

    def expert_text(self) -> str:
        """No worked examples are taken."""
        return ""

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _request(self) -> str:
        turn = len(self._said) - 1
        said = "\n".join(str(one["content"]) for one in self._entry["question"][turn])
        more = self._later.get(turn)
        return f"{MORE}{_listed(more)}\n{said}".strip() if more else said

    def _ask(self, do: str, **about: Any) -> Any:
        """Ask the process, which is started where there is none.

        Raises:
            WorkerFault: it ended, or did not answer in time.
        """
        if self._process is None:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
            self._send(do="begin", entry=self._entry)
        return self._send(do=do, **about)

    def _send(self, **message: Any) -> Any:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(message) + "\n")
            process.stdin.flush()
            line = _line(process, SECONDS)
            return json.loads(line)["answer"]
        except (OSError, ValueError, KeyError) as problem:
            self.close()
            raise WorkerFault("died", f"the process of bfcl-eval failed: {problem}") from problem


def _line(process: subprocess.Popen[str], seconds: float) -> str:
    """Read one line under a deadline: past it the process is killed, and the pipe ends."""
    assert process.stdout is not None
    watch = threading.Timer(seconds, process.kill)
    watch.start()
    try:
        return process.stdout.readline()
    finally:
        watch.cancel()


def _listed(functions: Sequence[Mapping[str, Any]]) -> str:
    kept = [
        {name: one[name] for name in ("name", "description", "parameters") if name in one}
        for one in functions
    ]
    return "\n".join(map(json.dumps, kept))


def _answered(calls: Sequence[Call], answers: Sequence[str]) -> str:
    return "\n".join(f"{one.name}: {answer}" for one, answer in zip(calls, answers, strict=True))
