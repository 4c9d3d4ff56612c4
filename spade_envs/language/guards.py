"""What is checked while a design runs because it could not be proven before: computed names and templates."""

from __future__ import annotations

import _string  # type: ignore[import-not-found]  # what string.Formatter itself reads templates with
import decimal
import functools
import string
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from spade_envs.language.attributes import FORMAT, GUARDED, NEVER, READABLE, is_dunder, own_name
from spade_envs.language.names import PROGRAM

_MISSING = object()
_STORABLE = {decimal.Context: ("prec", "rounding"), np.ndarray: ("shape", "flat", "real", "imag")}
"""What may be stored on objects that are not the design's own."""


def is_own(value: object) -> bool:
    """Say whether a value is a class or function that a design defines, or an instance of such a class."""
    return bool(_definition(value).__module__ == PROGRAM)


def _definition(value: Any) -> Any:
    return value if isinstance(value, (type, types.FunctionType)) else type(value)


@functools.lru_cache(maxsize=512)
def _defines(definition: Any, is_class: bool, name: str) -> bool:
    """Say whether `name` is the design's own on a class or, where it is none, on its instances."""
    if definition.__module__ != PROGRAM:
        return False
    bases = definition.__mro__ if isinstance(definition, type) else ()
    bases += () if bases and not is_class else type(definition).__mro__
    return all(kind.__module__ == PROGRAM for kind in bases if name in vars(kind))


def _is_own_attribute(owner: Any, name: str) -> bool:
    """Say whether a guarded name is the design's own on that owner: no class of the host defines it there."""
    return name not in NEVER and _defines(_definition(owner), isinstance(owner, type), name)


def check_own(owner: Any, name: str) -> Any:
    """Return the owner, one of whose guarded attributes is about to be read or written natively.

    Raises:
        AttributeError: the attribute is the host's.
    """
    if _is_own_attribute(owner, name) or (name == "prec" and type(owner) is decimal.Context):
        return owner
    raise AttributeError(f"the attribute {name!r} of {type(owner).__name__} is not to be had here")


def check_store(owner: Any, name: str) -> Any:
    """Return the owner, one of whose attributes is about to be stored or deleted.

    Raises:
        AttributeError: it is not one of the design's own objects.
    """
    if is_own(owner) or name in _STORABLE.get(type(owner), ()):
        return owner
    raise AttributeError(
        f"the attribute {name!r} of a {type(owner).__name__} cannot be changed: it is not your own"
    )


def get_attribute(owner: Any, name: str, default: Any = _MISSING) -> Any:
    """Return what ``getattr`` returns, for names that are harmless on that owner.

    Raises:
        AttributeError: there is no such attribute and no default, or the name is not to be had.
        TypeError: the name is no text.
    """
    _check_name(name, owner)
    if name in FORMAT and (isinstance(owner, str) or (isinstance(owner, type) and issubclass(owner, str))):
        return _formatting(owner, name)
    if name in GUARDED:
        if default is _MISSING:
            check_own(owner, name)
        elif not _is_own_attribute(owner, name):
            return default
        name = own_name(name) if hasattr(owner, own_name(name)) else name
    return getattr(owner, name) if default is _MISSING else getattr(owner, name, default)


def has_attribute(owner: Any, name: str) -> bool:
    """Return what ``hasattr`` returns; False for names that are not to be had."""
    try:
        get_attribute(owner, name)
    except AttributeError:
        return False
    return True


def set_attribute(owner: Any, name: str, value: Any) -> None:
    """Set an attribute of one of the design's own objects.

    Raises:
        AttributeError: the owner or the name is not the design's own.
    """
    _check_name(name, owner)
    if not is_own(owner) or name in READABLE:
        raise AttributeError(f"setattr works on objects of your own classes, not on {type(owner).__name__}")
    if name in GUARDED:
        check_own(owner, name)
    setattr(owner, name, value)


def _check_name(name: object, owner: object) -> None:
    if type(name) is not str:
        raise TypeError(f"attribute name must be str, not {type(name).__name__}")
    if is_dunder(name) and name not in READABLE:
        raise AttributeError(f"the attribute {name!r} of {type(owner).__name__} belongs to Python")


def _formatting(owner: Any, method: str) -> Callable[..., str]:
    """Return ``format`` or ``format_map`` of a text, or of ``str`` itself, with guarded attributes."""

    def format_text(template: str, /, *args: Any, **kwargs: Any) -> str:
        return _Filling(args, kwargs).fill(str.__str__(template), depth=2)

    def format_map(template: str, mapping: Mapping[str, Any], /) -> str:
        return _Filling((), mapping).fill(str.__str__(template), depth=2)

    method_of_str = format_text if method == "format" else format_map
    return method_of_str if isinstance(owner, type) else functools.partial(method_of_str, owner)


class _Filling:
    """One call of ``str.format``, whose templates read attributes through the guard."""

    def __init__(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        self._args, self._kwargs = args, kwargs
        self._numbered: int | None = (
            None  # fields without a name so far; None before the first field by number
        )

    def fill(self, template: str, depth: int) -> str:
        if depth < 0:
            raise ValueError("Max string recursion exceeded")
        parts = []
        for literal, field, specification, conversion in _string.formatter_parser(template):
            parts.append(literal)
            if field is not None:
                value = _FORMATTER.convert_field(self._value(field), conversion)
                parts.append(format(value, self.fill(specification, depth - 1)))
        return "".join(parts)

    def _value(self, field: str) -> Any:
        first, rest = _string.formatter_field_name_split(field)
        by_number = first == "" or isinstance(first, int)
        value = self._args[self._number(first)] if by_number else self._kwargs[first]
        for is_attribute, name in rest:
            value = get_attribute(value, name) if is_attribute else value[name]
        return value

    def _number(self, first: int | str) -> int:
        automatic = first == ""
        if self._numbered is not None and automatic != (self._numbered >= 0):
            raise ValueError("a template cannot both number its fields and leave them without numbers")
        if isinstance(first, int):
            self._numbered = -1
            return first
        self._numbered = 0 if self._numbered is None else self._numbered + 1
        return self._numbered


_FORMATTER = string.Formatter()
