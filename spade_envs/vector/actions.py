"""Checks of a batch of actions: in the form in which they travel, or an error that says whose is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector.utils import iterate

from spade_envs.errors import UsageError
from spade_envs.isolation.conform import OutsideError, checker
from spade_envs.isolation.results import tool_call


class ActionCheck:
    """Checks the actions of a vector.

    Args:
        space: of one instance's actions.
        batched: of all, as Gymnasium batches it.
        by_call: whether an action may be a tool call, as text or parsed.
    """

    def __init__(self, space: spaces.Space[Any], batched: spaces.Space[Any], by_call: bool) -> None:
        self._space, self._batched = space, batched
        self._one = tool_call if by_call else checker(space)
        self._arrays = isinstance(
            space, (spaces.Discrete, spaces.Box, spaces.MultiDiscrete, spaces.MultiBinary)
        )
        self._low: int | None = None
        if isinstance(space, spaces.Discrete):
            self._low, self._high = int(space.start), int(space.start) + int(space.n) - 1

    def __call__(self, actions: Any, count: int) -> Any:
        """Return ``count`` actions: an array of the space's type and shape, or a list. They are copies.

        Raises:
            UsageError: they are not so many, or one is not in its space.
        """
        if not self._arrays:
            return [self._checked(at, action) for at, action in self._each(actions, count)]
        if (
            self._low == 0
            and type(actions) is np.ndarray
            and actions.dtype == np.int64
            and actions.shape == (count,)
        ):
            data = actions.tobytes()
            if max(memoryview(data).cast("Q")) <= self._high:  # what is below zero is very large there
                return np.frombuffer(data, np.int64)
        array = np.array(actions)
        if not self._usual(array, count):
            checked = [self._checked(at, action) for at, action in self._each(actions, count)]
            array = np.array(checked, self._space.dtype).reshape(count, *(self._space.shape or ()))
        return array.astype(np.int64, copy=False) if array.ndim == 1 and self._low is not None else array

    def some(self, actions: dict[int, Any], count: int) -> Any:
        """Return the actions of some instances, with a row for each of ``count``.

        Raises:
            UsageError: one is not in its space.
        """
        checked = {at: self._checked(at, action) for at, action in actions.items()}
        if not self._arrays:
            return [checked.get(at) for at in range(count)]
        array = np.zeros(
            (count, *(self._space.shape or ())), np.int64 if self._low is not None else self._space.dtype
        )
        for at, action in checked.items():
            array[at] = action
        return array

    def _usual(self, array: np.ndarray, count: int) -> bool:
        """Say whether actions are all in the space, in its type, which one look at all of them tells."""
        if isinstance(self._space, spaces.Box):
            fits = array.dtype == self._space.dtype and array.shape == (count, *self._space.shape)
            return fits and bool(np.all((array >= self._space.low) & (array <= self._space.high)))
        if self._low is None or array.dtype.kind not in "iu" or array.shape != (count,):
            return False
        return bool(array.min() >= self._low and array.max() <= self._high)

    def _each(self, actions: Any, count: int) -> Any:
        try:
            each = list(actions if self._arrays else iterate(self._batched, actions))
        except (TypeError, KeyError) as error:
            raise UsageError(f"the actions are no batch of {self._space}: {error}") from None
        if len(each) != count:
            raise UsageError(f"{len(each)} actions for {count} environments")
        return enumerate(each)

    def _checked(self, at: int, action: Any) -> Any:
        try:
            return self._one(action)
        except OutsideError as error:
            raise UsageError(f"environment {at}: the action is not in the action space: {error}") from None
