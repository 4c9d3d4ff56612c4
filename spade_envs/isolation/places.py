"""Observations of a fixed shape travel in shared memory: the worker fills their places, the host copies them out.

In the message itself such an array is None, which no array space holds. A value of another type, dtype or shape
than its space's stays in the message, where the host's checker converts it or says what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium import spaces

from spade_envs.isolation.spaces import kind_of

Tree = Any
"""For an array space an array over the memory, for Dict a dict and for Tuple a list of trees, else None."""
_ALIGNMENT = 64


def size_of(space: Any) -> int:
    """Return the bytes that the arrays of one observation take, each aligned for itself."""
    match kind_of(space):
        case spaces.Box | spaces.MultiBinary | spaces.MultiDiscrete:
            return _aligned(int(np.prod(space.shape, dtype=int)) * space.dtype.itemsize)
        case spaces.Dict:
            return sum(map(size_of, space.spaces.values()))
        case spaces.Tuple:
            return sum(map(size_of, space.spaces))
    return 0


def lay_out(space: Any, memory: memoryview, start: int) -> Tree:
    """Return the places of one observation's arrays, which begin at a byte of the memory."""
    match kind_of(space):
        case spaces.Box | spaces.MultiBinary | spaces.MultiDiscrete:
            return np.ndarray(space.shape, space.dtype, memory, start)
        case spaces.Dict:
            tree = {}
            for key, part in sorted(space.spaces.items()):  # spaces of one meaning may differ in order
                tree[key] = lay_out(part, memory, start)
                start += size_of(part)
            return tree
        case spaces.Tuple:
            parts = []
            for part in space.spaces:
                parts.append(lay_out(part, memory, start))
                start += size_of(part)
            return parts
    return None


def filler(tree: Tree) -> Callable[[Any], Any] | None:
    """Return the function that moves an observation's arrays to their places; None where there are none."""
    if isinstance(tree, np.ndarray):
        return _array_filler(tree)
    if isinstance(tree, dict):
        return _dict_filler({key: put for key, part in tree.items() if (put := filler(part))}, len(tree))
    if isinstance(tree, list):
        return _tuple_filler({at: put for at, part in enumerate(tree) if (put := filler(part))}, len(tree))
    return None


def _array_filler(place: np.ndarray) -> Callable[[Any], Any]:
    dtype, shape = place.dtype, place.shape

    def fill(value: Any) -> Any:
        if type(value) is np.ndarray and value.dtype is dtype and value.shape == shape:
            place[...] = value
            return None
        return "None" if value is None else value  # what is no observation must not pass for a placed one

    return fill


def _dict_filler(parts: dict[str, Callable[[Any], Any]], count: int) -> Callable[[Any], Any] | None:
    def fill(value: Any) -> Any:
        if type(value) is dict and len(value) == count and value.keys() >= parts.keys():
            return {**value, **{key: put(value[key]) for key, put in parts.items()}}
        return value

    return fill if parts else None


def _tuple_filler(parts: dict[int, Callable[[Any], Any]], count: int) -> Callable[[Any], Any] | None:
    def fill(value: Any) -> Any:
        if type(value) is tuple and len(value) == count:
            return tuple(parts[at](item) if at in parts else item for at, item in enumerate(value))
        return value

    return fill if parts else None


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT
