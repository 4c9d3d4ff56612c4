"""Any Python value as plain JSON data, and JSON text as plain Python data."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable, Mapping, Set
from enum import Enum
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Return a copy made of dict, list, str, int, float, bool and None only.

    Sets become sorted lists; NumPy values, enums and dataclasses become what they stand for; numbers that
    JSON lacks and all other objects become text.
    """
    match value:
        case None | bool():
            return value
        case Enum():
            return plain(value.value)
        case str():
            return str.__str__(value)
        case int():
            return int(value)
        case float():
            return float(value) if math.isfinite(value) else repr(float(value))
        case np.generic() | np.ndarray():
            return plain(value.tolist())
        case Mapping():
            return {_key(key): plain(item) for key, item in value.items()}
        case Set():
            return _sorted([plain(item) for item in value])
        case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
        case Iterable() if not isinstance(value, (bytes, bytearray)):
            return [plain(item) for item in value]
    return str(value)


def to_json(value: Any) -> str:
    """Return a value as JSON text, made plain first."""
    return json.dumps(plain(value), ensure_ascii=False)


def from_json(text: str) -> Any:
    """Read strict JSON: no NaN, no infinity, no number that overflows.

    Raises:
        ValueError: the text is no JSON. RecursionError of deep nesting is one too.
    """
    try:
        return json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _key(key: Any) -> str:
    simple = plain(key)
    return simple if isinstance(simple, str) else json.dumps(simple, ensure_ascii=False)


def _sorted(items: list[Any]) -> list[Any]:
    try:
        return sorted(items)
    except TypeError:
        return sorted(items, key=lambda item: (type(item).__name__, json.dumps(item)))


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse(text)


def _refuse(text: str) -> Any:
    raise ValueError(f"{text[:40]} is no JSON number")
