"""The worker's side of columns: what many instances returned is put there at once where it fits.

What does not fit (another type, shape or dtype than its space's) is left to the host, which converts it or says
what is wrong with it.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from spade_envs.isolation.columns import Block, Leaf, leaves
from spade_envs.isolation.spaces import kind_of

_WHOLE = frozenset({int, bool, np.bool_, *(np.dtype(name).type for name in ("i1", "i2", "i4", "i8"))})
_WHOLE |= {np.dtype(name).type for name in ("u1", "u2", "u4", "u8")}
_REAL = _WHOLE | {float, np.float16, np.float32, np.float64}
_FLAG = frozenset({bool, np.bool_})
_ARRAY_LIKE = _REAL | {np.ndarray, list, tuple}
Rows = Any
"""Which rows of a column: a slice or a list of numbers."""


class UnfitError(Exception):
    """Something among the values does not fit its column."""


class Filler:
    """Puts observations, rewards and flags into a block's columns.

    Args:
        space: of the observations.
        block: laid out for it.
    """

    def __init__(self, space: Any, block: Block) -> None:
        self._block = block
        parted = kind_of(space) in (spaces.Dict, spaces.Tuple)
        self._split = _splitter(space) if parted else None
        self._puts = [
            _putter(leaf, column) for leaf, column in zip(leaves(space), block.columns, strict=True)
        ]

    def fill(self, results: Sequence[tuple[Any, ...]], rows: Rows) -> list[list[str]]:
        """Put results (observation, reward, terminated, truncated, and more) into rows; return the columns of texts.

        Raises:
            UnfitError: one does not fit; what is in the rows then is undefined.
        """
        observations, rewards, terminated, truncated, *_ = zip(*results, strict=True)
        if not (
            _REAL.issuperset(map(type, rewards))
            and _FLAG.issuperset(map(type, terminated))
            and _FLAG.issuperset(map(type, truncated))
        ):
            raise UnfitError
        block = self._block
        parts = [observations] if self._split is None else self._split(observations)
        try:
            block.rewards[rows] = array("d", rewards)
            block.flags[0, rows] = _flags(terminated)
            block.flags[1, rows] = _flags(truncated)
            texts = [put(part, rows) for put, part in zip(self._puts, parts, strict=True)]
        except (TypeError, ValueError, OverflowError):
            raise UnfitError from None
        return [column for column in texts if column is not None]


def _flags(flags: Sequence[Any]) -> Any:
    """Return flags as an array. Most are plain, and bytes are made of those four times sooner."""
    try:
        return np.frombuffer(bytes(flags), np.uint8)
    except TypeError:  # NumPy's are among them
        return np.array(flags, np.uint8)


Putter = Callable[[Sequence[Any], Rows], list[str] | None]


def _putter(leaf: Leaf, column: Any) -> Putter:
    if leaf.is_text:
        return _texts
    return _number_putter(column) if leaf.is_number else _array_putter(column)


def _texts(values: Sequence[Any], _: Rows) -> list[str]:
    if not all(type(value) is str for value in values):
        raise UnfitError
    return list(values)


def _number_putter(column: np.ndarray) -> Putter:
    def put(values: Sequence[Any], rows: Rows) -> None:
        if not _WHOLE.issuperset(map(type, values)):
            raise UnfitError
        column[rows] = values

    return put


def _array_putter(column: np.ndarray) -> Putter:
    shape, dtype = column.shape[1:], column.dtype
    flat = shape[0] if shape else 0

    def put(values: Sequence[Any], rows: Rows) -> None:
        count = len(values)
        if (
            list(map(type, values)).count(np.ndarray) != count
            or [value.dtype for value in values].count(dtype) != count
            or [value.shape for value in values].count(shape) != count
        ):
            column[rows] = _converted(values, shape, dtype)
        elif count > 1 and flat and type(rows) is slice:
            np.concatenate(values, out=column[rows].reshape(count * flat, *shape[1:]))
        else:
            for row, value in zip(range(count) if type(rows) is slice else rows, values, strict=True):
                column[row] = value

    return put


def _converted(values: Sequence[Any], shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
    """Return values of other types as one array, by the rules of the host's checker."""
    if not _ARRAY_LIKE.issuperset(map(type, values)):
        raise UnfitError
    found = np.array(values)
    exact = dtype.kind in "biu"
    if found.shape != (len(values), *shape) or found.dtype.kind not in ("biu" if exact else "biuf"):
        raise UnfitError
    if exact and dtype.kind != "b" and found.size:
        limits = np.iinfo(dtype)
        if found.min() < limits.min or found.max() > limits.max:
            raise UnfitError
    with np.errstate(over="ignore"):
        return found.astype(dtype)


def _splitter(space: Any) -> Callable[[Sequence[Any]], list[Sequence[Any]]]:
    """Return the function that takes observations of a Dict or Tuple apart, leaf by leaf."""
    parts = sorted(space.spaces.items()) if kind_of(space) is spaces.Dict else list(enumerate(space.spaces))
    kinds = (dict,) if kind_of(space) is spaces.Dict else (tuple, list)
    inner = [
        (key, _splitter(part) if kind_of(part) in (spaces.Dict, spaces.Tuple) else None)
        for key, part in parts
    ]

    def split(values: Sequence[Any]) -> list[Sequence[Any]]:
        if not all(type(value) in kinds and len(value) == len(inner) for value in values):
            raise UnfitError
        found: list[Sequence[Any]] = []
        try:
            for key, further in inner:
                column = [value[key] for value in values]
                found += [column] if further is None else further(column)
        except KeyError:
            raise UnfitError from None
        return found

    return split
