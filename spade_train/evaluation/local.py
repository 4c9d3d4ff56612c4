"""Known sets of questions from a local path, for nothing is fetched: AIME, GPQA, and files of the user's own."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from spade_envs.errors import UsageError
from spade_train.evaluation.questions import Question, is_same, number_of, question_suite
from spade_train.evaluation.rows import read_rows
from spade_train.evaluation.suite import Options, Skipped, Suite

LONG = 4096
"""Tokens of a long answer."""

LETTERS = "ABCDEFGHIJ"


def aime(options: Options) -> Suite | Skipped:
    """Return problems whose answer is a whole number: columns ``problem`` (or ``question``) and ``answer``."""
    return _from_path("aime", options, _aime, LONG)


def gpqa(options: Options) -> Suite | Skipped:
    """Return questions with four answers, in an order drawn for each: the columns of GPQA's own CSV files."""
    return _from_path("gpqa", options, partial(_gpqa, seed=options.seed), LONG)


def own(path: Path) -> Callable[[Options], Suite | Skipped]:
    """Return the maker of a suite of a user's file: ``question`` and ``answer`` (one, or a list of right ones)."""

    def make(options: Options) -> Suite | Skipped:
        questions = [_own(f"{path.name} row {n}", n, row) for n, row in enumerate(read_rows(path), 1)]
        if not questions:
            raise UsageError(f"{path} holds no questions.")
        return question_suite(path.stem, questions[: options.items])

    return make


def sourced(name: str, options: Options) -> Path | Skipped:
    """Return the path that was given for a set, or why the set is skipped."""
    if not options.given:
        return Skipped(name, f"it is not part of this package; say where it lies: --suite {name}=PATH")
    path = Path(options.given).expanduser()
    return path if path.exists() else Skipped(name, f"{path} is not there")


def _from_path(
    name: str, options: Options, read: Callable[[str, int, Mapping[str, Any]], Question], tokens: int
) -> Suite | Skipped:
    path = sourced(name, options)
    if isinstance(path, Skipped):
        return path
    rows = read_rows(path)
    if not rows:
        return Skipped(name, f"{path} holds no questions")
    questions = [read(f"{path.name} row {number}", number, row) for number, row in enumerate(rows, 1)]
    return question_suite(name, questions[: options.items], tokens=tokens)


def _aime(place: str, number: int, row: Mapping[str, Any]) -> Question:
    right = text_of(place, row, ("answer", "Answer"))
    if (wanted := number_of(right)) is None:
        raise UsageError(f"{place}: the answer is {right!r}; AIME's answers are whole numbers.")
    text = text_of(place, row, ("problem", "Problem", "question", "Question"))
    return Question(str(row.get("id") or number), text, lambda answer: number_of(answer) == wanted)


def _gpqa(place: str, number: int, row: Mapping[str, Any], seed: int) -> Question:
    right = text_of(place, row, ("Correct Answer",))
    answers = [right, *(text_of(place, row, (f"Incorrect Answer {n}",)) for n in (1, 2, 3))]
    random.Random(f"{seed}/gpqa/{number}").shuffle(answers)
    listed = "\n".join(f"{letter}. {one.strip()}" for letter, one in zip(LETTERS, answers, strict=False))
    letter = LETTERS[answers.index(right)]
    text = f"{text_of(place, row, ('Question',))}\n\n{listed}\n\nAnswer with one letter."
    return Question(
        str(row.get("Record ID") or number), text, lambda answer: answer.strip(" .()").upper() == letter
    )


def _own(place: str, number: int, row: Mapping[str, Any]) -> Question:
    given = row.get("answer")
    right = [str(one) for one in given] if isinstance(given, list) else [text_of(place, row, ("answer",))]
    text = text_of(place, row, ("question",))
    return Question(str(row.get("id") or number), text, partial(_is_any, right=right))


def _is_any(answer: str, right: Sequence[str]) -> bool:
    return any(is_same(answer, one) for one in right)


def text_of(place: str, row: Mapping[str, Any], names: Sequence[str]) -> str:
    """Return the first of these columns that a row has. Raises UsageError where it has none."""
    for name in names:
        if row.get(name) not in (None, ""):
            return str(row[name])
    raise UsageError(f"{place} has no {' or '.join(names)}; it has: {', '.join(map(str, row))}.")
