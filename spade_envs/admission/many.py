"""Several designs judged at once."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from spade_envs.admission.judging import judge
from spade_envs.admission.report import Report
from spade_envs.admission.side_by_side import side_by_side
from spade_envs.errors import SpadeError

Verdict = Report | SpadeError
"""What became of a design; an error where the machine could not judge it."""


def judge_many(
    sources: Sequence[str], *, jobs: int | None = None, **options: Any
) -> Generator[tuple[int, Verdict], None, None]:
    """Judge designs and yield each one's place and verdict, as they come to be known.

    Closing the iterator stops the judges and their workers.

    Args:
        sources: whole files.
        jobs: how many are judged at once; as many as there are cores where missing. One is judged here.
        options: as for :func:`judge`.
    """
    yield from side_by_side(judged, [(source, options) for source in sources], jobs)


def judged(source: str, options: dict[str, Any]) -> Report:
    """Judge a design, in whichever process."""
    return judge(source, **options)
