"""Classes that stand for others: for `isinstance` and `is`, not to be called, changed or derived from."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from spade_envs.language.attributes import EXPORTED
from spade_envs.language.names import PROGRAM


class _Sealed(type):
    """Metaclass of the stand-ins."""

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, _stands_for(cls))

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, _stands_for(cls))

    def __call__(cls, *_: Any, **__: Any) -> Any:
        raise TypeError(f"{cls.__name__} is not to be called here")

    def __setattr__(cls, name: str, _: Any) -> None:
        raise TypeError(f"{name!r} of {cls.__name__} is not to be changed")


class _SealedType(_Sealed):
    """Metaclass of what a program has as `type`, which may be called with one value."""

    def __call__(cls, value: Any) -> type:
        return type_of(value)


def _stands_for(cls: type) -> type:
    kind: type = vars(cls)["__stands_for__"]
    return kind


def _sealed(kind: type, meta: type[_Sealed] = _Sealed) -> type:
    def refuse(_: Any, /, **__: Any) -> None:
        raise TypeError(f"{kind.__name__} is not to be derived from here")

    names = {"__stands_for__": kind, "__module__": kind.__module__, "__init_subclass__": classmethod(refuse)}
    return meta(kind.__name__, (), names)


SEALED = {kind: _sealed(kind) for kind in (np.ndarray, np.ufunc, np.random.Generator, spaces.Space)}
"""The stand-ins, by what they stand for."""

TYPE = _sealed(type, _SealedType)
"""What a program has as `type`."""

_LITERAL = frozenset(
    {int, float, complex, bool, str, bytes, list, dict, tuple, set, frozenset, range, type(None)}
)

FACADE = "spade_facade"
"""``__module__`` of the classes that are made anew for each program."""


def type_of(value: Any) -> type:
    """Return a value's type, where it can be had by name too; for arrays and classes, what stands for it.

    Raises:
        TypeError: the type is not to be had.
    """
    kind = type(value)
    if issubclass(kind, type):
        return TYPE
    if kind in SEALED:
        return SEALED[kind]
    if (
        kind in EXPORTED
        or kind in _LITERAL
        or kind.__module__ in (PROGRAM, FACADE)
        or issubclass(kind, BaseException)
    ):
        return kind
    raise TypeError(f"the type of a {kind.__name__} is not to be had here")
