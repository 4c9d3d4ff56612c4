"""What it takes to play each instance's present episode again: how it began, its actions since, their rewards."""

from __future__ import annotations

import copy
import struct
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np


class Begun(NamedTuple):
    """How an episode began, with the actions that led to where it was taken up, their return, and before which turn."""

    seed: int
    options: dict[str, Any] | None
    actions: tuple[Any, ...]
    returned: float
    turn: int


class Episode(NamedTuple):
    """What it takes to play an episode again, and the sum of its rewards, added up in their order."""

    seed: int
    options: dict[str, Any] | None
    actions: list[Any]
    returned: float


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
        # Of turns that not all took action and reward, with the number of the turn of all that came next.
        self._between: list[list[tuple[int, Any, float]]] = [[] for _ in range(count)]

    def note(self, actions: Any, rewards: np.ndarray, positions: Sequence[int] | None) -> None:
        """Keep actions and rewards of a turn, rows for all instances, for those that were asked; all where None."""
        if positions is not None:
            now = self._dropped + len(self._turns)
            for position in positions:
                between = self._between[position]
                if len(between) <= self._most:  # one more than can be played again: then that is known
                    between.append((now, actions[position], float(rewards[position])))
            return
        self._turns.append((actions, rewards.tobytes()))
        if (
            len(self._turns) > 2 * self._most + 2
        ):  # whose episode began before these has had more actions than that
            kept = self._turns[-self._most - 1 :]
            self._dropped += len(self._turns) - len(kept)
            self._turns = kept

    def begin(
        self,
        positions: Iterable[int],
        seeds: Iterable[int],
        options: Any,
        actions: Sequence[Any] = (),
        returned: float = 0.0,
    ) -> None:
        """Note that episodes begin now, the noted turns excluded."""
        now = self._dropped + len(self._turns)
        kept = copy.deepcopy(options)
        for position, seed in zip(positions, seeds, strict=True):
            self._begun[position] = Begun(seed, kept, tuple(actions), returned, now)
            if self._between[position]:
                self._between[position] = []

    def forget(self, position: int) -> None:
        """Note that an instance has no episode."""
        self._begun[position] = None

    def runs(self, position: int) -> bool:
        """Say whether an instance has an episode."""
        return self._begun[position] is not None

    def of(self, position: int) -> Episode | None:
        """Return an instance's episode; None where it is too long to be known, or none."""
        begun = self._begun[position]
        if begun is None or begun.turn < self._dropped:
            return None
        actions, returned, turn = list(begun.actions), begun.returned, begun.turn
        between = self._between[position]
        for at in range(len(between) + 1):
            following = between[at][0] if at < len(between) else self._dropped + len(self._turns)
            for taken, rewards in self._turns[turn - self._dropped : following - self._dropped]:
                actions.append(_own(taken[position]))
                returned += _REWARD.unpack_from(rewards, position * _REWARD.size)[0]
            turn = following
            if at < len(between):
                actions.append(_own(between[at][1]))
                returned += between[at][2]
        return None if len(actions) > self._most else Episode(begun.seed, begun.options, actions, returned)


_REWARD = struct.Struct("=d")


def _own(action: Any) -> Any:
    return int(action) if isinstance(action, np.integer) else action
