"""Results of many instances side by side: a column for each part of an observation, one for each number of a step.

Columns of a fixed shape lie in memory that worker and host share, one row for each instance that was asked; texts
travel in the message. Both sides lay the memory out by the same rules, from the space.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from spade_envs.isolation.spaces import kind_of

_ALIGNMENT = 64
Path = tuple[str | int, ...]
Column = Any
"""An array with a row for each instance, or a list of texts."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A part of a space that has no parts: where it stands in an observation, and its space."""

    path: Path
    space: Any

    @property
    def is_text(self) -> bool:
        """Whether it is a text, which has no place in memory."""
        return kind_of(self.space) is spaces.Text

    @property
    def is_number(self) -> bool:
        """Whether it is one whole number."""
        return kind_of(self.space) is spaces.Discrete


def leaves(space: Any, path: Path = ()) -> list[Leaf]:
    """Return the parts of a space in an order that does not depend on how it was written."""
    match kind_of(space):
        case spaces.Dict:
            parts: Any = sorted(space.spaces.items())
        case spaces.Tuple:
            parts = enumerate(space.spaces)
        case _:
            return [Leaf(path, space)]
    return [leaf for key, part in parts for leaf in leaves(part, (*path, key))]


class Block:
    """The columns of up to ``count`` rows, laid out over a memory.

    Attributes:
        rewards: float64.
        flags: uint8, one if so, of shape (2, count): terminated and truncated.
        terminated: the first of these, as bool; whether its bytes are 0 or 1 is to be checked before it is used.
        truncated: the second, likewise.
        columns: an array for each leaf, of the leaf's dtype; None for texts.
    """

    def __init__(self, space: Any, count: int, memory: Any) -> None:
        self.count = count
        self._memory, self._at = memory, _ALIGNMENT  # the first bytes are the number of the row at work
        self.rewards = self._column((), np.float64)
        self.flags = self._column((2,), np.uint8).reshape(2, count)
        self.terminated, self.truncated = self.flags.view(np.bool_)
        self.columns = [
            None if leaf.is_text else self._column(leaf.space.shape, leaf.space.dtype)
            for leaf in leaves(space)
        ]
        self.size = self._at

    def first(self, count: int) -> Block:
        """Return the first so many rows."""
        part: Block = object.__new__(Block)
        part.count, part.rewards = count, self.rewards[:count]
        part.terminated, part.truncated = self.terminated[:count], self.truncated[:count]
        part.columns = [None if column is None else column[:count] for column in self.columns]
        return part

    def _column(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        column = np.ndarray((self.count, *shape), dtype, self._memory, self._at)
        self._at = _aligned(self._at + column.nbytes)
        return column


def block_bytes(space: Any, count: int) -> int:
    """Return the bytes that a block of so many rows takes."""
    sizes = [8 * count, 2 * count]
    for leaf in leaves(space):
        if not leaf.is_text:
            items = int(np.prod(leaf.space.shape, dtype=int)) * count
            sizes.append(items * np.dtype(leaf.space.dtype).itemsize)
    return _ALIGNMENT + sum(map(_aligned, sizes))


def nester(space: Any) -> Callable[[Sequence[Column]], Any]:
    """Return what puts columns into the space's own form: dictionaries and tuples of arrays, and tuples of texts."""
    match kind_of(space):
        case spaces.Dict | spaces.Tuple:
            form = _Form(space)
            return lambda columns: form.nested(iter(columns))
        case spaces.Text:
            return lambda columns: tuple(columns[0])
    return lambda columns: columns[0]


class _Form:
    """The form of a Dict or Tuple."""

    def __init__(self, space: Any) -> None:
        self._keys = list(space.spaces) if kind_of(space) is spaces.Dict else None
        parts = sorted(space.spaces.items()) if self._keys is not None else enumerate(space.spaces)
        self._parts = [(key, _form(part)) for key, part in parts]

    def nested(self, columns: Iterator[Column]) -> Any:
        """Take the columns of this part, and return them in its form."""
        found = {key: _taken(form, columns) for key, form in self._parts}
        return tuple(found.values()) if self._keys is None else {key: found[key] for key in self._keys}


def _form(space: Any) -> _Form | bool:
    """Return the form of a part; where it has none, whether it is a text."""
    kind = kind_of(space)
    return _Form(space) if kind in (spaces.Dict, spaces.Tuple) else kind is spaces.Text


def _taken(form: _Form | bool, columns: Iterator[Column]) -> Any:
    if isinstance(form, _Form):
        return form.nested(columns)
    return tuple(next(columns)) if form else next(columns)


def row_of(space: Any, columns: Sequence[Column], row: int) -> Any:
    """Return one instance's observation, as the space's values are: a copy."""
    return _row(space, iter(columns), row)


def _row(space: Any, columns: Any, row: int) -> Any:
    match kind_of(space):
        case spaces.Dict:
            found = {key: _row(part, columns, row) for key, part in sorted(space.spaces.items())}
            return {key: found[key] for key in space.spaces}
        case spaces.Tuple:
            return tuple(_row(part, columns, row) for part in space.spaces)
        case spaces.Discrete:
            return int(next(columns)[row])
        case spaces.Text:
            return next(columns)[row]
    return next(columns)[row].copy() if space.shape else np.array(next(columns)[row])


def part_of(observation: Any, path: Path) -> Any:
    """Return the part of one observation that a leaf stands for."""
    for key in path:
        observation = observation[key]
    return observation


def index_of(rows: Sequence[int] | None) -> Any:
    """Return what an array takes as an index for rows, for all where None: a slice where they follow one another."""
    if rows is None:
        return slice(None)
    return slice(rows.start, rows.stop) if type(rows) is range and rows.step == 1 else rows


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT
