"""Fields for the parts of an action, by its space, and the value that they are filled in with. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

import numpy as np
from gymnasium import spaces

from spade_envs.contract.plain import from_json

Kind = Literal["number", "choice", "check", "text"]
_CHOICES = 24
_UNBOUNDED = 1e9


@dataclass(frozen=True, slots=True)
class Field:
    """One thing to fill in.

    Attributes:
        name: by which it is sent.
        label: what a person reads.
        low: the least number, None where there is none.
        high: the largest number.
        step: between numbers; ``"any"`` where they are not whole.
        options: of a choice.
        length: the most characters of a text.
        needed: whether it must be filled in.
        about: what it means, if that is known.
    """

    name: str
    label: str
    kind: Kind
    low: float | int | None = None
    high: float | int | None = None
    step: Literal["1", "any"] = "1"
    options: tuple[str, ...] = ()
    length: int = 8_192
    needed: bool = True
    about: str = ""


def fields_of(space: spaces.Space[Any], most: int) -> tuple[Field, ...]:
    """Return the first so many fields of an action."""
    return tuple(islice(_fields("f", "", space), most))


def value_of(space: spaces.Space[Any], given: Mapping[str, str]) -> Any:
    """Return the JSON value that was sent; what is missing or no number stays a text, for its reader to refuse."""
    return _value("f", space, given)


def number_of(text: str) -> Any:
    """Return the number that a text is, or else the text."""
    try:
        found = from_json(text)
    except ValueError:
        return text
    return found if type(found) in (int, float) else text


def _fields(name: str, label: str, space: spaces.Space[Any]) -> Iterator[Field]:
    match space:
        case spaces.Dict():
            for at, (key, part) in enumerate(space.spaces.items()):
                yield from _fields(f"{name}.{at}", f"{label} {key}".strip(), part)
        case spaces.Tuple():
            for at, part in enumerate(space.spaces):
                yield from _fields(f"{name}.{at}", f"{label} {at + 1}".strip(), part)
        case spaces.Discrete():
            yield _whole(name, label or "action", int(space.start), int(space.n))
        case spaces.Text():
            yield Field(name, label or "text", "text", length=space.max_length, needed=space.min_length > 0)
        case spaces.MultiDiscrete():
            for at, (low, count) in enumerate(zip(np.ravel(space.start), np.ravel(space.nvec), strict=True)):
                yield _whole(f"{name}.{at}", _placed(label, at, space.shape), int(low), int(count))
        case spaces.MultiBinary():
            for at in range(int(np.prod(space.shape))):
                yield Field(f"{name}.{at}", _placed(label, at, space.shape), "check", needed=False)
        case spaces.Box():
            for at, (low, high) in enumerate(zip(np.ravel(space.low), np.ravel(space.high), strict=True)):
                yield _number(f"{name}.{at}", _placed(label, at, space.shape), low, high)


def _whole(name: str, label: str, low: int, count: int) -> Field:
    options = tuple(map(str, range(low, low + count))) if count <= _CHOICES else ()
    return Field(name, label, "choice" if options else "number", low, low + count - 1, options=options)


def _number(name: str, label: str, low: Any, high: Any) -> Field:
    whole = np.issubdtype(np.asarray(low).dtype, np.integer)
    least, most = (end.item() if abs(end) < _UNBOUNDED else None for end in (low, high))
    return Field(name, label, "number", least, most, step="1" if whole else "any")


def _placed(label: str, at: int, shape: Any) -> str:
    if shape == (1,) and label:
        return label
    place = ", ".join(str(index + 1) for index in np.unravel_index(at, shape))
    return f"{label} {place}".strip()


def _value(name: str, space: spaces.Space[Any], given: Mapping[str, str]) -> Any:
    match space:
        case spaces.Dict():
            return {
                key: _value(f"{name}.{at}", part, given)
                for at, (key, part) in enumerate(space.spaces.items())
            }
        case spaces.Tuple():
            return [_value(f"{name}.{at}", part, given) for at, part in enumerate(space.spaces)]
        case spaces.Discrete():
            return number_of(given.get(name, ""))
        case spaces.Text():
            return given.get(name, "").replace("\r\n", "\n")
        case spaces.MultiBinary():
            return _shaped(
                [int(f"{name}.{at}" in given) for at in range(int(np.prod(space.shape)))], space.shape
            )
    shape = space.shape or ()
    return _shaped([number_of(given.get(f"{name}.{at}", "")) for at in range(int(np.prod(shape)))], shape)


def _shaped(flat: list[Any], shape: Any) -> Any:
    """Return a flat list as nested ones."""
    if len(shape) == 0:
        return flat[0]
    if len(shape) == 1:
        return flat
    size = int(np.prod(shape[1:]))
    return [_shaped(flat[at * size : (at + 1) * size], shape[1:]) for at in range(shape[0])]
