"""The seeds of each instance's episodes: those that were given, and after each a sequence that follows from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.utils import seeding

from spade_envs.errors import UsageError

_END = 2**31
_AHEAD = 16  # so many seeds are drawn at once: one alone takes ten times as long


class Seeds:
    """Draws seeds for unseeded episodes, for each instance as a single environment would.

    Args:
        count: how many instances.
    """

    def __init__(self, count: int) -> None:
        self._generators: list[np.random.Generator | int | None] = [None] * count
        self._drawn_ahead: list[list[int]] = [[] for _ in range(count)]
        self._upcoming = np.full(count, -1, np.int64)

    def given(self, position: int, seed: int) -> int:
        """Begin the sequence of an instance anew."""
        self._generators[position] = seed
        self._drawn_ahead[position] = []
        self._upcoming[position] = -1
        return seed

    def next(self, position: int) -> int:
        """Return the seed of an instance's next episode."""
        seed = int(self._upcoming[position])
        if seed < 0:
            return self._drawn(position)
        self._upcoming[position] = -1
        return seed

    def upcoming(self) -> np.ndarray:
        """Return what :meth:`next` would, for all instances: int64. They are not used up."""
        for position in np.flatnonzero(self._upcoming < 0).tolist():
            self._upcoming[position] = self._drawn(position)
        return self._upcoming

    def _drawn(self, position: int) -> int:
        ahead = self._drawn_ahead[position]
        if not ahead:
            generator = self._generators[position]
            if not isinstance(generator, np.random.Generator):  # made when first needed: it takes its time
                generator, _ = seeding.np_random(generator)
                self._generators[position] = generator
            ahead += generator.integers(_END, size=_AHEAD).tolist()[::-1]
        return ahead.pop()


def spread(seed: int | Sequence[int | None] | None, count: int) -> list[int | None]:
    """Return a seed for each instance: ``seed``, ``seed + 1`` and so on, or what the list says.

    Raises:
        UsageError: they are not as many as the instances, or no seeds.
    """
    if seed is None:
        return [None] * count
    if isinstance(seed, (int, np.integer)):
        seeds: list[Any] = [int(seed) + at for at in range(count)]
    else:
        seeds = list(seed)
    if len(seeds) != count:
        raise UsageError(f"{len(seeds)} seeds for {count} environments")
    for one in seeds:
        if one is not None and not (isinstance(one, (int, np.integer)) and 0 <= one < 2**63):
            raise UsageError(f"a seed must be a whole number from 0 to 2**63 - 1, found {one!r}")
    return [None if one is None else int(one) for one in seeds]
