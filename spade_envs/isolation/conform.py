"""Checks of what passes between an agent and a design: each value is made its space's own, or refused.

A checker takes a value and returns it in the space's types, or raises :class:`OutsideError`. It is made
once per space, so that a step pays for comparisons only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium import spaces

from spade_envs.contract.text_space import UnicodeText
from spade_envs.isolation.places import Tree

Checker = Callable[[Any], Any]


class OutsideError(ValueError):
    """A value that does not lie in its space. The message says what was found and what the space holds."""


def checker(space: spaces.Space[Any], places: Tree = None) -> Checker:
    """Return the function that checks and converts values of ``space``.

    Where the space's arrays have places in memory, None stands for what lies in its place, which is copied
    before it is checked. Values come out as int for ``Discrete``, str for ``Text``, arrays of the space's dtype for
    ``MultiDiscrete``, ``MultiBinary`` and ``Box``, and dict or tuple of these. An array that needs no
    conversion is not copied.
    """
    match space:
        case spaces.Discrete():
            return _discrete(int(space.start), int(space.start) + int(space.n))
        case spaces.MultiDiscrete():
            return _array(space, space.start, space.start + (space.nvec - 1), places)
        case spaces.MultiBinary():
            return _array(space, np.zeros(space.shape, np.int8), np.ones(space.shape, np.int8), places)
        case spaces.Box():
            return _array(space, space.low, space.high, places)
        case spaces.Text():
            return _text(space)
        case spaces.Dict():
            trees = places or {}
            return _dict({key: checker(part, trees.get(key)) for key, part in space.spaces.items()})
        case spaces.Tuple():
            trees = places or [None] * len(space.spaces)
            return _tuple([checker(part, tree) for part, tree in zip(space.spaces, trees, strict=True)])
    raise TypeError(f"no checker for {type(space).__name__}")


def _discrete(start: int, stop: int) -> Checker:
    def check(value: Any) -> int:
        if type(value) is not int:
            if isinstance(value, np.ndarray) and value.shape == ():
                value = value[()]
            if not isinstance(value, (int, np.integer, np.bool_)):
                raise OutsideError(f"{_shown(value)} is no whole number")
        number = int(value)
        if not start <= number < stop:
            raise OutsideError(f"{number} is not in {start} to {stop - 1}")
        return number

    return check


def _array(space: spaces.Space[Any], low: np.ndarray, high: np.ndarray, place: np.ndarray | None) -> Checker:
    shape, dtype = space.shape, space.dtype
    assert dtype is not None
    exact = dtype.kind in "biu"
    everything = exact and _covers(dtype, low, high)
    above, below = np.empty(low.shape, bool), np.empty(low.shape, bool)
    all_true = np.ones(low.shape, bool).tobytes()

    def placed() -> np.ndarray:
        array = place.copy()  # type: ignore[union-attr]
        if not everything:
            np.greater_equal(array, low, above)
            np.less_equal(array, high, below)
            if above.tobytes() != all_true or below.tobytes() != all_true:
                raise OutsideError(f"{_shown(array)} is not within the bounds of {str(space)[:120]}")
        return array

    def check(value: Any) -> np.ndarray:
        if value is None and place is not None:
            return placed()
        array = value if isinstance(value, np.ndarray) else _from_sequence(value)
        if array.shape != shape:
            raise OutsideError(f"an array of shape {array.shape} where the space has {shape}")
        if array.dtype != dtype:
            if array.dtype.kind not in ("biu" if exact else "biuf"):
                raise OutsideError(f"an array of {array.dtype} where the space has {dtype}")
            if not exact:
                with np.errstate(over="ignore"):
                    array = array.astype(dtype)
        elif everything:
            return array
        if np.count_nonzero((array >= low) & (array <= high)) != array.size:
            raise OutsideError(f"{_shown(array)} is not within the bounds of {str(space)[:120]}")
        return array.astype(dtype, copy=False)

    return check


def _covers(dtype: np.dtype[Any], low: Any, high: Any) -> bool:
    """Say whether every value of the dtype lies within the bounds."""
    least, most = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    return bool(np.all(low == least) and np.all(high == most))


def _from_sequence(value: Any) -> np.ndarray:
    if isinstance(value, (list, tuple, int, float, np.generic)):
        try:
            return np.array(value)
        except (ValueError, OverflowError):
            pass
    raise OutsideError(f"{_shown(value)} is no array")


def _text(space: spaces.Text) -> Checker:
    least, most = space.min_length, space.max_length
    holds = _is_unicode if isinstance(space, UnicodeText) else space.character_set.issuperset

    def check(value: Any) -> str:
        if not isinstance(value, str):
            raise OutsideError(f"{_shown(value)} is no text")
        if not least <= len(value) <= most:
            raise OutsideError(f"a text of {len(value)} characters where the space has {least} to {most}")
        if not holds(value):
            raise OutsideError(f"{_shown(value)} has characters that the space lacks")
        return str(value)

    return check


def _is_unicode(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _dict(parts: dict[str, Checker]) -> Checker:
    names = parts.keys()

    def check(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict) or value.keys() != names:
            keys = ", ".join(map(str, value))[:120] if isinstance(value, dict) else _shown(value)
            raise OutsideError(f"keys {keys} where the space has {', '.join(names)}")
        return {name: _within(name, part, value[name]) for name, part in parts.items()}

    return check


def _tuple(parts: list[Checker]) -> Checker:
    def check(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, (tuple, list)) or len(value) != len(parts):
            raise OutsideError(f"{_shown(value)} where the space has a tuple of {len(parts)}")
        return tuple(_within(i, part, item) for i, (part, item) in enumerate(zip(parts, value, strict=True)))

    return check


def _within(place: str | int, part: Checker, value: Any) -> Any:
    try:
        return part(value)
    except OutsideError as outside:
        raise OutsideError(f"[{place!r}]: {outside}") from None


def _shown(value: Any) -> str:
    return f"{type(value).__name__} {str(value)[:80]!r}"
