"""Checks of whole columns: what a worker left for many instances lies in their space, or which rows do not."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from spade_envs.contract.text_space import UnicodeText
from spade_envs.isolation.columns import Column, Leaf, leaves
from spade_envs.isolation.conform import OutsideError, checker
from spade_envs.isolation.spaces import kind_of

Inside = Callable[[Column], bool]
"""Says of a column whether all of its rows lie in the space."""


class ColumnChecker:
    """Checks the columns of observations.

    Args:
        space: the host's own.
        count: the most rows.
    """

    def __init__(self, space: spaces.Space[Any], count: int) -> None:
        self._leaves = leaves(space)
        self._inside = [_inside(leaf, count) for leaf in self._leaves]
        self._one = [checker(leaf.space) for leaf in self._leaves]

    def outside(self, columns: Sequence[Column], known: Container[int]) -> dict[int, str]:
        """Return which rows are not in the space, each with what is wrong, but for those that are known to be bad."""
        found: dict[int, str] = {}
        for inside, check, leaf, column in zip(self._inside, self._one, self._leaves, columns, strict=True):
            if not inside(column):
                for row in (row for row in range(len(column)) if row not in known):
                    value = column[row]
                    try:
                        check(int(value) if leaf.is_number else value)
                    except OutsideError as error:
                        where = "".join(f"[{key!r}]" for key in leaf.path)
                        found.setdefault(row, f"{where}: {error}" if where else str(error))
        return found


def _inside(leaf: Leaf, count: int) -> Inside:
    if leaf.is_text:
        return _texts(leaf.space)
    low, high = _bounds(leaf.space)
    dtype = np.dtype(leaf.space.dtype)
    if dtype.kind in "iu" and np.all(low == np.iinfo(dtype).min) and np.all(high == np.iinfo(dtype).max):
        return lambda _: True
    return _numbers(_plain(low), _plain(high), (count, *leaf.space.shape))


def _bounds(space: Any) -> tuple[Any, Any]:
    match kind_of(space):
        case spaces.Discrete:
            return np.asarray(space.start), np.asarray(space.start + space.n - 1)
        case spaces.MultiDiscrete:
            return space.start, space.start + (space.nvec - 1)
        case spaces.MultiBinary:
            return np.zeros((), np.int8), np.ones((), np.int8)
    return space.low, space.high


def _plain(bound: np.ndarray) -> np.ndarray:
    """One number where all are equal: it is compared much sooner."""
    return np.array(bound.flat[0]) if bound.size and bool(np.all(bound == bound.flat[0])) else bound


def _numbers(low: np.ndarray, high: np.ndarray, shape: tuple[int, ...]) -> Inside:
    above, below = np.empty(shape, bool), np.empty(shape, bool)
    size = int(np.prod(shape[1:], dtype=int))
    all_true = np.ones(shape, bool).tobytes()

    def inside(column: np.ndarray) -> bool:
        count = len(column)
        if count != shape[0]:
            true = all_true[: count * size]
            return (column >= low).tobytes() == true and (column <= high).tobytes() == true
        np.greater_equal(column, low, above)
        np.less_equal(column, high, below)
        # Comparing bytes is much sooner done than asking whether all are true.
        return above.tobytes() == all_true and below.tobytes() == all_true

    return inside


def _texts(space: spaces.Text) -> Inside:
    least, most = space.min_length, space.max_length
    holds = str.isascii if isinstance(space, UnicodeText) else _charset(space)

    def inside(column: Sequence[str]) -> bool:
        lengths = list(map(len, column))
        return not lengths or (least <= min(lengths) and max(lengths) <= most and holds("".join(column)))

    return inside


def _charset(space: spaces.Text) -> Callable[[str], bool]:
    """Return what says whether a text has no characters but the space's; of ASCII it takes a nanosecond each."""
    allowed = "".join(sorted(space.character_set))
    if not allowed.isascii():
        return space.character_set.issuperset
    table = allowed.encode()
    return lambda text: text.isascii() and not text.encode().translate(None, table)
