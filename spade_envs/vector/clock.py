"""How many steps the episodes of a vector have had, and whose time is over."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spade_envs.contract import Header
from spade_envs.errors import UsageError


class Clock:
    """Counts for all instances at once: a step costs nothing until the first episode's time may be over.

    Args:
        limits: the steps that each instance's episodes may have.
    """

    def __init__(self, limits: Sequence[int]) -> None:
        self._limits = np.array(limits, np.int64)
        self._began = np.zeros(len(self._limits), np.int64)
        self._now, self._due = 0, int(self._limits.min())

    def begin(self, positions: Sequence[int], steps: Sequence[int] | int = 0) -> None:
        """Begin episodes; some have had steps already."""
        self._began[positions] = self._now - np.asarray(steps)
        self._due = int((self._began + self._limits).min())

    def tick(self) -> list[int]:
        """Count a step of all; return whose time is over now."""
        self._now += 1
        return [] if self._now < self._due else self.over()

    def over(self) -> list[int]:
        """Return whose time is over."""
        return np.flatnonzero(self._now - self._began >= self._limits).tolist()


def limits_of(given: int | None, headers: Sequence[Header]) -> list[int]:
    """Return the steps that each instance's episodes may have.

    Raises:
        UsageError: the number that was given is none.
    """
    if given is not None and (not isinstance(given, int) or given < 1):
        raise UsageError(f"max_episode_steps must be at least 1, found {given!r}")
    return [given or header.max_episode_steps for header in headers]
