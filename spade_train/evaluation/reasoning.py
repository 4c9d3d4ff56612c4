"""reasoning-gym's generated puzzles, each at its easiest level. Optional: ``pip install spade-envs[evaluation]``.

Only a score of 1.0 counts: some of its scorers give part of it for an answer that merely contains the right one.
"""

from __future__ import annotations

import contextlib
import importlib.util
import random
from functools import cache
from typing import Any

from spade_envs.errors import UsageError
from spade_train.evaluation.questions import Question, question_suite
from spade_train.evaluation.suite import Options, Skipped, Suite

NAME = "reasoning-gym"
RIGHT = 1.0


def reasoning_gym(options: Options) -> Suite | Skipped:
    """Return puzzles of all kinds in turn, or of those that are named: ``reasoning-gym=gcd,leg_counting``."""
    if importlib.util.find_spec("reasoning_gym") is None:
        return Skipped(
            NAME, "the package reasoning-gym is not installed: pip install 'spade-envs[evaluation]'"
        )
    kinds, broken = _kinds(options.given), {}
    questions: list[Question] = []
    for number in range(options.items):
        for kind in kinds:
            if kind not in broken and len(questions) < options.items:
                try:
                    questions.append(_question(kind, number, options))
                except (
                    Exception
                ) as problem:  # it may want a package that is not there, or raise whatever it likes
                    broken[kind] = f"{kind} ({type(problem).__name__})"
    if not questions:
        return Skipped(NAME, f"none of its generators works here: {', '.join(broken.values())}")
    return question_suite(NAME, questions, note=f"left out: {', '.join(broken.values())}" if broken else "")


def _kinds(given: str) -> list[str]:
    from reasoning_gym.factory import DATASETS

    named = [name.strip() for name in given.split(",") if name.strip()]
    for name in named:
        if name not in DATASETS:
            raise UsageError(
                f"{NAME}={name}: it has no such puzzles. There are: {', '.join(sorted(DATASETS))}."
            )
    return named or sorted(set(DATASETS) - {"composite"})


def _question(kind: str, number: int, options: Options) -> Question:
    """Return a puzzle; the global generator, which some puzzles draw from, is put back afterwards."""
    before = random.getstate()
    try:
        puzzles = _easiest(kind, options.items, options.seed)
        entry = puzzles[number]
        return Question(f"{kind}-{number}", str(entry["question"]), _judge(puzzles, entry))
    finally:
        random.setstate(before)


@cache
def _easiest(kind: str, count: int, seed: int) -> Any:
    from reasoning_gym.factory import CURRICULA, create_curriculum, create_dataset

    if kind in CURRICULA:
        config = create_curriculum(kind).generate_configuration({"seed": seed, "size": count})
        return create_dataset(kind, **vars(config))
    return create_dataset(kind, seed=seed, size=count)


def _judge(puzzles: Any, entry: dict[str, Any]) -> Any:
    def is_right(answer: str) -> bool:
        with contextlib.suppress(Exception):  # a scorer that breaks at an answer has not found it right
            return float(puzzles.score_answer(answer, entry)) >= RIGHT
        return False

    return is_right
