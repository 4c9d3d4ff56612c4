"""Into how many workers a vector's instances go."""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence

from spade_envs.errors import UsageError

FEW = 64
"""Fewer instances than this go into one worker: a second one would cost more than it does."""
MOST = 256
"""The most instances of one worker: where it is lost, as many are built anew in time."""


def squads_of(sources: Sequence[str], workers: int | None = None) -> list[list[int]]:
    """Return the instances of each worker. One worker has one design; instances of a design are spread evenly.

    Args:
        sources: the design of each instance.
        workers: for each design; as many as are sensible where missing.
    """
    if workers is not None and workers < 1:
        raise UsageError(f"workers must be at least 1, found {workers!r}")
    of: dict[str, list[int]] = {}
    for position, source in enumerate(sources):
        of.setdefault(source, []).append(position)
    return [part for positions in of.values() for part in _parts(positions, workers)]


def _parts(positions: list[int], workers: int | None) -> list[list[int]]:
    count = len(positions)
    if workers is None:
        by_cores = min(cores(), -(-count // FEW))
        workers = max(by_cores, -(-count // MOST))
    workers = min(workers, count)
    edges = [count * at // workers for at in range(workers + 1)]
    return [positions[start:stop] for start, stop in itertools.pairwise(edges)]


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))
