"""What a class may be derived from: classes of a design's own, and those of the host that are made for it."""

from __future__ import annotations

import abc
import builtins
import collections
import collections.abc
import contextlib
import datetime
import decimal
import fractions
import json
import typing
from typing import Any

from spade_envs.language.names import MODULES, PROGRAM
from spade_envs.language.sealed import FACADE

_CLASSES: tuple[type, ...] = (
    *(object, int, float, complex, str, bytes, list, tuple, dict, set, frozenset),
    *(collections.OrderedDict, collections.defaultdict, collections.Counter, collections.deque),
    *(collections.ChainMap, collections.UserDict, collections.UserList, collections.UserString),
    *(abc.ABC, typing.Generic, typing.Protocol),
    *(contextlib.AbstractContextManager, contextlib.ContextDecorator),
    *(fractions.Fraction, decimal.Decimal, json.JSONEncoder, json.JSONDecoder),
    *(datetime.date, datetime.datetime, datetime.time, datetime.timedelta, datetime.tzinfo),
)
BASES = frozenset(_CLASSES).union(
    member
    for name in MODULES["collections.abc"]
    if isinstance(member := getattr(collections.abc, name), type)
)
"""Those of the host. None of them keeps, in an attribute, the name of another or a function that it calls."""


def build_class(body: Any, name: str, /, *bases: Any, **keywords: Any) -> Any:
    """Make a class as a class statement does.

    Raises:
        TypeError: it must not be derived from one of the bases.
    """
    for base in bases:
        if isinstance(base, type) and not _is_base(base):
            raise TypeError(f"a class cannot be derived from {base.__name__} here; hold one in an attribute")
    return builtins.__build_class__(body, name, *bases, **keywords)


def _is_base(base: type) -> bool:
    return base.__module__ in (PROGRAM, FACADE) or base in BASES or issubclass(base, BaseException)
