"""Actions as text: how each kind of space is written, read and asked for. Pure functions, no markup."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from spade_envs.contract.plain import from_json, plain, to_json

Names = Sequence[str] | None
SHOWN = 12
"""How many names or values of an action are listed before the rest is left out."""


class UnreadableError(ValueError):
    """A text that is no action of the space. The message says why."""


def write_action(action: Any, space: spaces.Space[Any], names: Names = None) -> str:
    """Return an action as an agent writes it: a word, a number, a text, or JSON."""
    match space:
        case spaces.Discrete() if names:
            return names[int(action) - int(space.start)]
        case spaces.Text():
            text = action if isinstance(action, str) else to_json(action)
            return text if text == text.strip() else f"\n{text}\n"
        case spaces.Dict():
            return to_json({key: _value(action[key], part) for key, part in space.spaces.items()})
        case spaces.Tuple():
            return to_json([_value(*pair) for pair in zip(action, space.spaces, strict=True)])
    return to_json(_value(action, space))


def read_action(text: str, space: spaces.Space[Any], names: Names = None) -> Any:
    """Return the action that a text stands for. White space around it does not count, except that of a text
    which stands on lines of its own: there only these line breaks are left out.

    Raises:
        UnreadableError: it stands for none.
    """
    if isinstance(space, spaces.Text):
        alone = len(text) > 1 and text[0] == text[-1] == "\n"
        return _member(text[1:-1] if alone else text.strip(), space)
    text = text.strip()
    if isinstance(space, spaces.Discrete) and names:
        return _named(text, space, names)
    try:
        return _action(from_json(text), space)
    except UnreadableError:
        raise
    except (ValueError, TypeError, OverflowError) as error:
        raise UnreadableError(f"that cannot be read: {error}") from None


def expected(space: spaces.Space[Any], names: Names = None) -> str:
    """Say in a few words what an action looks like."""
    match space:
        case spaces.Discrete() if names:
            return f"one of: {_listed(names)}"
        case spaces.Discrete():
            return f"a whole number from {space.start} to {space.start + space.n - 1}"
        case spaces.Text():
            return f"a text of at most {space.max_length} characters"
        case spaces.MultiDiscrete():
            ranges = ", ".join(f"{low} to {low + n - 1}" for low, n in _some(space.start, space.nvec))
            return f"a JSON list of {space.nvec.size} whole numbers ({ranges})"
        case spaces.MultiBinary():
            return f"a JSON list of shape {list(space.shape)} of the numbers 0 and 1"
        case spaces.Box():
            low, high = float(np.min(space.low)), float(np.max(space.high))
            return f"a JSON list of shape {list(space.shape)} of numbers from {low:g} to {high:g}"
        case spaces.Dict():
            return "a JSON object with " + "; ".join(f'"{k}": {expected(v)}' for k, v in space.spaces.items())
        case spaces.Tuple():
            return "a JSON list of " + "; ".join(map(expected, space.spaces))
    return "JSON"


def _value(action: Any, space: spaces.Space[Any]) -> Any:
    if isinstance(space, spaces.Dict):
        return {key: _value(action[key], part) for key, part in space.spaces.items()}
    if isinstance(space, spaces.Tuple):
        return [_value(*pair) for pair in zip(action, space.spaces, strict=True)]
    return plain(action)


def _action(value: Any, space: spaces.Space[Any]) -> Any:
    """Return the action that a JSON value stands for."""
    match space:
        case spaces.Discrete():
            if type(value) is not int:
                raise UnreadableError("it is no whole number")
            return _member(value, space)
        case spaces.Text():
            return _member(value, space)
        case spaces.Dict():
            if type(value) is not dict or value.keys() != space.spaces.keys():
                raise UnreadableError(f"it is no JSON object with the keys {', '.join(space.spaces)}")
            return {key: _action(value[key], part) for key, part in space.spaces.items()}
        case spaces.Tuple():
            if type(value) is not list or len(value) != len(space.spaces):
                raise UnreadableError(f"it is no JSON list of {len(space.spaces)} parts")
            return tuple(_action(*pair) for pair in zip(value, space.spaces, strict=True))
    return _array(value, space)


def _array(value: Any, space: spaces.Space[Any]) -> np.ndarray[Any, Any]:
    given = np.asarray(value)
    if given.dtype.kind not in "iufb" or given.shape != space.shape:
        raise UnreadableError(f"it is no list of numbers of the shape {list(space.shape or ())}")
    if not np.isfinite(given).all():
        raise UnreadableError("one of its numbers is not finite")
    with np.errstate(all="ignore"):
        array = given.astype(space.dtype)
    whole = np.issubdtype(array.dtype, np.integer) or array.dtype == bool
    if whole and not np.array_equal(array, given):
        raise UnreadableError("one of its numbers is no whole number, or too large")
    return np.asarray(_member(array, space))


def _member(value: Any, space: spaces.Space[Any]) -> Any:
    if not space.contains(value):
        raise UnreadableError("it is out of range")
    return value


def _named(text: str, space: spaces.Discrete, names: Sequence[str]) -> int:
    """Read a word in any case, with or without the full stop that models like to add."""
    said = {name: index for index, name in enumerate(names)}
    folded = {name.casefold(): index for name, index in reversed(said.items())}
    for word in (text, text.rstrip(".! ")):
        if word in said or word.casefold() in folded:
            return int(space.start) + said.get(word, folded.get(word.casefold(), 0))
    raise UnreadableError("there is no such action")


def _listed(names: Sequence[str]) -> str:
    if len(names) <= SHOWN:
        return ", ".join(names)
    return f"{', '.join(names[: SHOWN - 1])}, ... {names[-1]}"


def _some(*arrays: Any) -> list[tuple[int, ...]]:
    rows = [tuple(map(int, row)) for row in zip(*(np.ravel(array) for array in arrays), strict=True)]
    return rows[:SHOWN]
