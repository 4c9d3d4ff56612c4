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

Checker = Callable[[Any], Any]


class OutsideError(ValueError):
    """A value that does not lie in its space. The message says what was found and what the space holds."""


def checker(space: spaces.Space[Any]) -> Checker:
    """Return the function that checks and converts values of ``space``.

    Values come out as int for ``Discrete``, str for ``Text``, arrays of the space's dtype for
    ``MultiDiscrete``, ``MultiBinary`` and ``Box``, and dict or tuple of these. An array that needs no
    conversion is not copied.
    """
    match space:
        case spaces.Discrete():
            return _discrete(int(space.start), int(space.start) + int(space.n))
        case spaces.MultiDiscrete():
            return _array(space, space.start, space.start + (space.nvec - 1))
        case spaces.MultiBinary():
            return _array(space, np.int8(0), np.int8(1))
        case spaces.Box():
            return _array(space, space.low, space.high)
        case spaces.Text():
            return _text(space)
        case spaces.Dict():
            return _dict({key: checker(part) for key, part in space.spaces.items()})
        case spaces.Tuple():
            return _tuple([checker(part) for part in space.spaces])
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


def _array(space: spaces.Space[Any], low: np.ndarray | np.generic, high: np.ndarray | np.generic) -> Checker:
    shape, dtype = space.shape, space.dtype
    assert dtype is not None
    exact = dtype.kind in "biu"
    everything = exact and _covers(dtype, low, high)

    def check(value: Any) -> np.ndarray:
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
