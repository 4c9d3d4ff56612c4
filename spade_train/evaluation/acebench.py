"""ACEBench's normal, single-turn categories (arXiv 2501.12851) from a local copy of its data.

A folder such as ``data_all/data_en``: ``data_normal_*.json`` of JSON lines, and the answers of the same name in
``possible_answer``. Multi-turn and agent categories want its own simulator and are left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from spade_train.evaluation.calls import Call, read_calls
from spade_train.evaluation.local import sourced
from spade_train.evaluation.questions import Question, question_suite
from spade_train.evaluation.rows import read_rows
from spade_train.evaluation.suite import Options, Skipped, Suite

NAME = "acebench"
RULES = (
    "Call the functions that do what the user wants. Write the calls as <answer>[name(argument=value), ...]</answer>, "
    "with values as Python writes them, and leave out optional arguments that the user has not asked for."
)


def acebench(options: Options) -> Suite | Skipped:
    """Return tasks of all categories in turn."""
    path = sourced(NAME, options)
    if isinstance(path, Skipped):
        return path
    files = [one for one in sorted(path.glob("data_normal_*.json")) if "multi_turn" not in one.name]
    sets = [_tasks(one, path / "possible_answer" / one.name) for one in files]
    longest = max(map(len, sets), default=0)
    mixed = [one[n] for n in range(longest) for one in sets if n < len(one)][: options.items]
    if not mixed:
        return Skipped(NAME, f"{path} has no data_normal_*.json with answers in possible_answer")
    return question_suite(NAME, mixed, rules=RULES, note="single-turn categories alone")


def _tasks(path: Path, answers: Path) -> list[Question]:
    if not answers.is_file():
        return []
    right = {str(row["id"]): row.get("ground_truth") for row in read_rows(answers)}
    return [_task(row, right[str(row["id"])]) for row in read_rows(path) if right.get(str(row.get("id")))]


def _task(row: Mapping[str, Any], truth: Any) -> Question:
    functions = "\n".join(json.dumps(one) for one in row.get("function", ()))
    about = f"{row['time']}\n" if row.get("time") else ""
    known = {str(one.get("name")) for one in row.get("function", ())}
    ways = [_wanted(one, known) for one in (truth if isinstance(truth, list) else [truth])]
    return Question(
        str(row["id"]),
        f"{about}Functions:\n{functions}\n\n{row['question']}",
        lambda answer: _said(read_calls(answer)) in ways,
    )


def _wanted(truth: Mapping[str, Any], known: set[str]) -> list[tuple[str, str]]:
    """Return the calls of one right way; the second call of a function has a number behind its name."""
    calls = [(name if name in known else re.sub(r"_\d+$", "", name), named) for name, named in truth.items()]
    return _said([Call(name, dict(named)) for name, named in calls])


def _said(calls: Sequence[Call]) -> list[tuple[str, str]]:
    """Return calls in a form that can be compared, in any order."""
    return sorted(
        (one.name, json.dumps([one.named, list(one.unnamed)], sort_keys=True, default=repr)) for one in calls
    )
