"""The worker's side of columns: what many instances returned is put there at once where it fits.

What does not fit (another type, shape or dtype than its space's) is left to the host, which converts it or says
what is wrong with it.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from operator import attrgetter
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
"""Which rows of a column: a list of numbers, or the first ones where None."""


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
        self._rewards, self._flags = _bytes_of(block.rewards), [_bytes_of(flags) for flags in block.flags]
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
        return self.fill_columns(*zip(*results, strict=True), rows=rows)

    def fill_columns(
        self,
        observations: Sequence[Any],
        rewards: Sequence[Any],
        terminated: Sequence[Any],
        truncated: Sequence[Any],
        *_: Any,
        rows: Rows = None,
    ) -> list[list[str]]:
        """Do what :meth:`fill` does, with results by columns; into the first rows where none are given."""
        if not _REAL.issuperset(map(type, rewards)):
            raise UnfitError
        parts = [observations] if self._split is None else self._split(observations)
        try:
            if rows is None:
                count = len(rewards)
                self._rewards[: 8 * count] = array("d", rewards).tobytes()
                self._flags[0][:count], self._flags[1][:count] = _flags(terminated), _flags(truncated)
            else:
                self._block.rewards[rows] = array("d", rewards)
                for at, flags in enumerate((terminated, truncated)):
                    self._block.flags[at, rows] = np.frombuffer(_flags(flags), np.uint8)
            texts = [put(part, rows) for put, part in zip(self._puts, parts, strict=True)]
        except (TypeError, ValueError, OverflowError):
            raise UnfitError from None
        return [column for column in texts if column is not None]


def _bytes_of(column: np.ndarray) -> memoryview:
    """Return the memory of a column."""
    return memoryview(column).cast("B")  # type: ignore[arg-type]


def _flags(flags: Sequence[Any]) -> bytes:
    """Return flags as bytes. Most are plain."""
    if list(map(type, flags)).count(bool) == len(flags):
        return bytes(flags)
    if _FLAG.issuperset(map(type, flags)):
        return np.array(flags, np.uint8).tobytes()
    raise UnfitError


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
    memory, form = _bytes_of(column), column.dtype.char

    def put(values: Sequence[Any], rows: Rows) -> None:
        count = len(values)
        if rows is None and list(map(type, values)).count(int) == count:
            memory[: count * column.itemsize] = array(form, values).tobytes()
            return
        if not _WHOLE.issuperset(map(type, values)):
            raise UnfitError
        column[slice(count) if rows is None else rows] = values

    return put


_type_of = attrgetter("dtype", "shape")


def _array_putter(column: np.ndarray) -> Putter:
    shape, dtype = column.shape[1:], column.dtype
    memory = _bytes_of(column) if column.size else memoryview(b"")
    expected = dtype, shape

    def put(values: Sequence[Any], rows: Rows) -> None:
        count = len(values)
        if (
            list(map(type, values)).count(np.ndarray) != count
            or list(map(_type_of, values)).count(expected) != count
        ):
            column[slice(count) if rows is None else rows] = _converted(values, shape, dtype)
        elif rows is None:
            try:
                data = b"".join(values)
            except (BufferError, ValueError):  # the parts of one do not lie one after the other
                column[:count] = values
            else:
                memory[: len(data)] = data
        else:
            for row, value in zip(rows, values, strict=True):
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
