"""What it takes to play each instance's present episode again: how it began, and its actions since."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np


class Begun(NamedTuple):
    """How an episode began, with the actions that led to where it was taken up."""

    seed: int
    options: dict[str, Any] | None
    actions: tuple[Any, ...] = ()


class History:
    """Keeps the actions of all instances, turn by turn: a turn of a thousand costs what a turn of one does.

    Args:
        count: how many instances.
        most: actions of the longest episode that is to be played again.
    """

    def __init__(self, count: int, most: int) -> None:
        self._most = most
        self._begun: list[Begun | None] = [None] * count
        self._since = [0] * count
        self._turns: list[tuple[frozenset[int] | None, Any]] = []
        self._dropped = 0

    def note(self, actions: Any, positions: Sequence[int] | None) -> None:
        """Keep the actions of a turn, which have a row for each instance, for those that were asked; all where None."""
        self._turns.append((None if positions is None else frozenset(positions), actions))
        if len(self._turns) > 2 * self._most + 2:  # no episode that can be played again began before these
            kept = self._turns[-self._most - 1 :]
            self._dropped += len(self._turns) - len(kept)
            self._turns = kept

    def begin(
        self, positions: Iterable[int], seeds: Iterable[int], options: Any, actions: Sequence[Any] = ()
    ) -> None:
        """Note that episodes begin now, the noted turns excluded."""
        now = self._dropped + len(self._turns)
        kept = copy.deepcopy(options)
        for position, seed in zip(positions, seeds, strict=True):
            self._begun[position] = Begun(seed, kept, tuple(actions))
            self._since[position] = now

    def forget(self, position: int) -> None:
        """Note that an instance has no episode."""
        self._begun[position] = None

    def runs(self, position: int) -> bool:
        """Say whether an instance has an episode."""
        return self._begun[position] is not None

    def of(self, position: int) -> tuple[int, dict[str, Any] | None, list[Any]] | None:
        """Return seed, options and actions of an instance's episode; None where it is too long to be known, or none."""
        begun, since = self._begun[position], self._since[position]
        if begun is None or since < self._dropped:
            return None
        actions = list(begun.actions)
        for asked, taken in self._turns[since - self._dropped :]:
            if asked is None or position in asked:
                actions.append(_own(taken[position]))
        return None if len(actions) > self._most else (begun.seed, begun.options, actions)


def _own(action: Any) -> Any:
    return int(action) if isinstance(action, np.integer) else action
