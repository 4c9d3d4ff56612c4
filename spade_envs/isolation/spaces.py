"""Spaces as data: the worker describes what a design declares, the host checks sizes and builds its own."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from gymnasium import spaces

from spade_envs.contract.text_space import UnicodeText

MAX_DEPTH = 6
MAX_ELEMENTS = 1 << 20
"""The most numbers that a space's arrays may have, and characters that its texts may have, all together."""
_PART_COST = 1 << 10  # what a part counts beside its elements: there can be a thousand


_KINDS = frozenset(
    (
        spaces.Box,
        spaces.Dict,
        spaces.Discrete,
        spaces.MultiBinary,
        spaces.MultiDiscrete,
        spaces.Text,
        spaces.Tuple,
    )
)


class SpaceError(ValueError):
    """A space that the contract does not know, or that is too large."""


def kind_of(space: Any) -> type | None:
    """Return which of the contract's kinds a space is of, or None.

    ``isinstance`` would ask every class derived from ``Dict`` and ``Tuple``, which are abstract, and each instance
    of a design brings classes of its own: a thousand instances would cost a million checks, each remembered.
    """
    return next((kind for kind in type(space).__mro__ if kind in _KINDS), None)


def describe(space: Any, depth: int = 0) -> list[Any]:
    """Return a space as plain data and arrays: its kind, and what its constructor needs.

    Raises:
        SpaceError: the space is of another kind, or nested too deep.
    """
    if depth > MAX_DEPTH:
        raise SpaceError(f"a space nested more than {MAX_DEPTH} deep")
    match kind_of(space):
        case spaces.Discrete:
            return ["Discrete", int(space.n), int(space.start), space.dtype.str]
        case spaces.MultiDiscrete:
            return ["MultiDiscrete", np.asarray(space.nvec), np.asarray(space.start)]
        case spaces.MultiBinary:
            return ["MultiBinary", space.n]
        case spaces.Box:
            return ["Box", _bound(space.low), _bound(space.high), list(space.shape)]
        case spaces.Text:
            charset = None if isinstance(space, UnicodeText) else "".join(space.character_list)
            return ["Text", space.max_length, space.min_length, charset]
        case spaces.Dict:
            return ["Dict", [[key, describe(part, depth + 1)] for key, part in space.spaces.items()]]
        case spaces.Tuple:
            return ["Tuple", [describe(part, depth + 1) for part in space.spaces]]
    raise SpaceError(
        f"a space of type {type(space).__name__[:60]}; it must be one of Discrete, MultiDiscrete, "
        "MultiBinary, Box, Text, Dict and Tuple"
    )


def _bound(bound: np.ndarray) -> Any:
    """One number where all are equal: most designs write that, and it keeps a large box small on the wire."""
    return bound.flat[0] if bound.size and bool(np.all(bound == bound.flat[0])) else np.asarray(bound)


def build(data: Any) -> spaces.Space[Any]:
    """Return the host's own space, made of what a worker described; sizes are checked before it is built.

    Raises:
        SpaceError: the description is malformed, or the space is too large.
    """
    try:
        return _Builder().build(data, 0)
    except SpaceError:
        raise
    except (ValueError, TypeError, AssertionError, LookupError, OverflowError) as error:
        raise SpaceError(f"a space that Gymnasium refuses ({str(error)[:200]})") from None


class _Builder:
    def __init__(self) -> None:
        self._left = MAX_ELEMENTS

    def build(self, data: Any, depth: int) -> spaces.Space[Any]:
        self._spend(_PART_COST)
        if depth > MAX_DEPTH:
            raise SpaceError(f"a space nested more than {MAX_DEPTH} deep")
        match data:
            case ["Discrete", int(n), int(start), str(name)]:
                return spaces.Discrete(n, start=start, dtype=_integer(np.dtype(name)))
            case ["MultiDiscrete", np.ndarray() as counts, np.ndarray() as start]:
                self._spend(counts.size)
                return spaces.MultiDiscrete(counts, dtype=_integer(counts.dtype), start=start)
            case ["MultiBinary", int() | [*_] as shape]:
                self._spend(_size([shape] if isinstance(shape, int) else shape))
                return spaces.MultiBinary(shape)
            case ["Box", np.ndarray() | np.generic() as low, np.ndarray() | np.generic() as high, [*shape]]:
                self._spend(_size(shape))
                if low.dtype != high.dtype:
                    raise SpaceError("a box whose bounds are of two types")
                return spaces.Box(
                    np.broadcast_to(low, shape), np.broadcast_to(high, shape), dtype=low.dtype.type
                )
            case ["Text", int(longest), int(shortest), str() | None as charset]:
                self._spend(longest)
                if charset is None:
                    return UnicodeText(longest, min_length=shortest)
                return spaces.Text(longest, min_length=shortest, charset=charset)
            case ["Dict", [*parts]] if parts and all(type(part[0]) is str for part in parts):
                return spaces.Dict({key: self.build(part, depth + 1) for key, part in parts})
            case ["Tuple", [*parts]] if parts:
                return spaces.Tuple([self.build(part, depth + 1) for part in parts])
        raise SpaceError("a space that cannot be described: an empty one, or one with keys that are no text")

    def _spend(self, elements: int) -> None:
        self._left -= elements
        if self._left < 0:
            raise SpaceError(f"a space of more than {MAX_ELEMENTS:,} numbers or characters")


def _size(shape: Any) -> int:
    if any(type(length) is not int or length < 0 for length in shape):
        raise SpaceError("a space whose shape does not consist of whole numbers")
    return math.prod(shape)


def _integer(dtype: np.dtype[Any]) -> Any:
    if dtype.kind not in "iu":
        raise SpaceError(f"a discrete space of type {dtype.name}")
    return dtype.type
