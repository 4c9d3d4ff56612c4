"""What it takes to play each instance's present episode again: how it began, and its actions since."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np


class Begun(NamedTuple):
    """How an episode began, with the actions that led to where it was taken up, and before which turn of all."""

    seed: int
    options: dict[str, Any] | None
    actions: tuple[Any, ...]
    turn: int


class History:
    """Keeps the actions of all instances. A turn of all is kept as it is: a thousand cost what one does.

    Args:
        count: how many instances.
        most: actions of the longest episode that is to be played again.
    """

    def __init__(self, count: int, most: int) -> None:
        self._most = most
        self._begun: list[Begun | None] = [None] * count
        self._turns: list[Any] = []
        self._dropped = 0
        # Actions of turns that not all took, each with the number of the turn of all that came next.
        self._between: list[list[tuple[int, Any]]] = [[] for _ in range(count)]

    def note(self, actions: Any, positions: Sequence[int] | None) -> None:
        """Keep the actions of a turn, which have a row for each instance, for those that were asked; all where None."""
        if positions is not None:
            now = self._dropped + len(self._turns)
            for position in positions:
                between = self._between[position]
                if len(between) <= self._most:  # one more than can be played again: then that is known
                    between.append((now, actions[position]))
            return
        self._turns.append(actions)
        if (
            len(self._turns) > 2 * self._most + 2
        ):  # whose episode began before these has had more actions than that
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
            self._begun[position] = Begun(seed, kept, tuple(actions), now)
            if self._between[position]:
                self._between[position] = []

    def forget(self, position: int) -> None:
        """Note that an instance has no episode."""
        self._begun[position] = None

    def runs(self, position: int) -> bool:
        """Say whether an instance has an episode."""
        return self._begun[position] is not None

    def of(self, position: int) -> tuple[int, dict[str, Any] | None, list[Any]] | None:
        """Return seed, options and actions of an instance's episode; None where it is too long to be known, or none."""
        begun = self._begun[position]
        if begun is None or begun.turn < self._dropped:
            return None
        actions, turn = list(begun.actions), begun.turn
        now = self._dropped + len(self._turns)
        for following, action in [*self._between[position], (now, None)]:
            actions += [
                _own(taken[position])
                for taken in self._turns[turn - self._dropped : following - self._dropped]
            ]
            turn = following
            actions.append(_own(action))
        actions.pop()
        return None if len(actions) > self._most else (begun.seed, begun.options, actions)


def _own(action: Any) -> Any:
    return int(action) if isinstance(action, np.integer) else action
