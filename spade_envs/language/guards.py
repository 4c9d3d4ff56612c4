"""What is checked while a design runs because it could not be proven before: computed names and templates."""

from __future__ import annotations

import decimal
import string
from _string import formatter_field_name_split  # type: ignore[import-not-found]  # as string.Formatter does
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from spade_envs.language.attributes import FORMAT, GUARDED, GUARDED_STORES, NEVER, READABLE, is_dunder
from spade_envs.language.names import PROGRAM

_MISSING = object()


def is_own(value: object) -> bool:
    """Say whether a value is an instance of a class that a design defines, or such a class."""
    kind = type(value)
    return kind.__module__ == PROGRAM or (
        issubclass(kind, type) and getattr(value, "__module__", "") == PROGRAM
    )


def _gives_own(owner: object, name: str) -> bool:
    """Say whether `name` on a design's own object is the design's own: no class of the host defines it."""
    if not is_own(owner):
        return False
    classes = type(owner).__mro__ + (owner.__mro__ if isinstance(owner, type) else ())
    return all(kind.__module__ == PROGRAM for kind in classes if name in vars(kind))


def check_own(owner: Any, name: str) -> Any:
    """Return the owner, one of whose guarded attributes is about to be read or written natively.

    Raises:
        AttributeError: the attribute is the host's.
    """
    if name not in NEVER and (_gives_own(owner, name) or (name == "prec" and type(owner) is decimal.Context)):
        return owner
    raise AttributeError(f"the attribute {name!r} of {type(owner).__name__} is not to be had here")


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
        check_own(owner, name)
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
    if name in GUARDED_STORES:
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
        text = str.__str__(template)
        if method == "format_map":
            (mapping,) = args
            return _FORMATTER.vformat(text, (), mapping)
        return _FORMATTER.vformat(text, args, kwargs)

    return (
        format_text
        if isinstance(owner, type)
        else lambda *args, **kwargs: format_text(owner, *args, **kwargs)
    )


class _Formatter(string.Formatter):
    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        first, rest = formatter_field_name_split(field_name)
        value = self.get_value(first, args, kwargs)
        for is_attribute, name in rest:
            value = get_attribute(value, name) if is_attribute else value[name]
        return value, first


_FORMATTER = _Formatter()
