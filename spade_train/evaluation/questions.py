"""Questions with answers: environments of one turn."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from spade_train.evaluation.suite import Item, Suite

_MARKED = re.compile(r"<answer>(.*?)</answer>|\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}", re.DOTALL)
_NUMBER = re.compile(r"[-+]?\$?[\d,]*\.?\d+(?:[eE][-+]?\d+)?%?")

RULES = "Answer the question. You may think first. Write the answer itself, and nothing else, as <answer>...</answer>."


@dataclass(frozen=True)
class Question:
    """One question.

    Attributes:
        is_right: judges an answer that was read out of a reply.
    """

    name: str
    text: str
    is_right: Callable[[str], bool]


class QuestionEnv:
    """The questions of a suite, each an episode of one turn; the seed is the question's number.

    A reply's answer is what stands last in ``<answer>`` or in ``\\boxed``.
    """

    tools: list[dict[str, Any]] = []
    turn_limit = 1

    def __init__(self, questions: Sequence[Question], rules: str = RULES) -> None:
        self._questions, self.rules = questions, rules

    def reset(self, *, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        """Ask the question of that number."""
        self._question = self._questions[seed or 0]
        return self._question.text, {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Judge the reply."""
        answer = answer_of(action)
        right = answer is not None and self._question.is_right(answer)
        return "", float(right), True, False, {"is_success": right, "invalid_action": answer is None}

    def hint(self) -> str:
        """There is none."""
        return ""

    def expert_text(self) -> str:
        """Nobody knows; no worked examples are taken from questions."""
        return ""

    def close(self) -> None:
        """Nothing is open."""


def question_suite(
    name: str, questions: Sequence[Question], *, tokens: int = 512, rules: str = RULES, note: str = ""
) -> Suite:
    """Return a suite of these questions."""
    items = tuple(Item(f"{name}/{one.name}", number) for number, one in enumerate(questions))
    return Suite(
        name, items, lambda _, **__: QuestionEnv(questions, rules), completion=tokens, turn=tokens, note=note
    )


def answer_of(reply: str) -> str | None:
    """Return the last marked answer of a reply, stripped; None where nothing is marked."""
    found = list(_MARKED.finditer(reply))
    return (found[-1][1] if found[-1][1] is not None else found[-1][2]).strip() if found else None


def is_same(answer: str, right: str) -> bool:
    """Whether an answer is the right one: the same number, or the same words but for case, spaces and a full stop."""
    number, wanted = number_of(answer), number_of(right)
    if number is not None and wanted is not None:
        return number == wanted
    return _plain(answer) == _plain(right)


def number_of(text: str) -> float | None:
    """Return the number that a text is as a whole; None where it is none."""
    text = text.strip().rstrip(".").strip("$ ")
    return float(text.replace(",", "").rstrip("%").replace("$", "")) if _NUMBER.fullmatch(text) else None


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")
