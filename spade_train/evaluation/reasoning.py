"""reasoning-gym's generated puzzles, each at its easiest level. Optional: ``pip install spade-envs[evaluation]``.

Only a score of 1.0 counts: some of its scorers give part of it for an answer that merely contains the right one.
"""

from __future__ import annotations

import contextlib
import importlib.util
import random
from collections.abc import Iterator
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
    kinds = _kinds(options.given)
    per_kind = -(-options.items // len(kinds))
    questions, broken = [], []
    for kind in kinds:
        try:
            questions.append(list(_questions(kind, per_kind, options.seed)))
        except (
            Exception
        ) as problem:  # a generator may want a package that is not there, or raise whatever it likes
            broken.append(f"{kind} ({type(problem).__name__})")
        if sum(map(len, questions)) >= options.items + len(kinds):
            break
    mixed = [of_kind[n] for n in range(per_kind) for of_kind in questions if n < len(of_kind)][
        : options.items
    ]
    if not mixed:
        return Skipped(NAME, f"none of its generators works here: {', '.join(broken)}")
    return question_suite(NAME, mixed, note=f"left out: {', '.join(broken)}" if broken else "")


def _kinds(given: str) -> list[str]:
    from reasoning_gym.factory import DATASETS

    named = [name.strip() for name in given.split(",") if name.strip()]
    for name in named:
        if name not in DATASETS:
            raise UsageError(
                f"{NAME}={name}: it has no such puzzles. There are: {', '.join(sorted(DATASETS))}."
            )
    return named or sorted(set(DATASETS) - {"composite"})


def _questions(kind: str, count: int, seed: int) -> Iterator[Question]:
    """Yield puzzles; the global generators, which some scorers and puzzles draw from, are put back afterwards."""
    before = random.getstate()
    try:
        puzzles = _easiest(kind, count, seed)
        for number in range(count):
            entry = puzzles[number]
            yield Question(f"{kind}-{number}", str(entry["question"]), _judge(puzzles, entry))
    finally:
        random.setstate(before)


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
