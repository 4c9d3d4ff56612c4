"""Infos in the form that Gymnasium's vectors have: an array for each key, and beside it which instances have it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

Group = tuple[Sequence[int] | None, Sequence[str], Sequence[list[Any]]]
"""Which instances (all where None), their keys, and a column of values for each key."""
_PLAIN = {bool, int, float}


def vector_infos(
    count: int, groups: Iterable[Group], rows: dict[int, dict[str, Any]] | None = None
) -> dict[str, Any]:
    """Return the infos of ``count`` instances as one dictionary.

    The arrays are Gymnasium's: of a number's own type, of arrays where all are of one shape, else of objects. Where
    Gymnasium would fail, since the values of a key fit no common array, there is an array of objects, too.

    Args:
        count: how many instances there are.
        groups: infos by columns.
        rows: infos one by one; they come in the place of what the groups say of the same instances.
    """
    if not rows:
        groups = list(groups)
        if len(groups) == 1 and groups[0][0] is None:
            return _all(count, groups[0])
    found: dict[Any, dict[int, Any]] = {}
    for positions, keys, columns in groups:
        for key, column in zip(keys, columns, strict=True):
            found.setdefault(key, {}).update(
                zip(range(count) if positions is None else positions, column, strict=True)
            )
    for position, info in (rows or {}).items():
        for of_key in found.values():
            of_key.pop(position, None)
        for key, value in info.items():
            found.setdefault(key, {})[position] = value
    infos: dict[str, Any] = {}
    for key, values in found.items():
        if values:
            infos[key] = _gathered(count, values)
            infos[f"_{key}"] = _mask(count, list(values))
    return infos


def put(infos: dict[str, Any], key: str, count: int, values: dict[int, Any], whole: bool = False) -> None:
    """Add a key that some instances have; with ``whole`` its values stay as they are, one by one."""
    infos[key] = _objects(count, values) if whole else _gathered(count, values)
    infos[f"_{key}"] = _mask(count, list(values))


def _all(count: int, group: Group) -> dict[str, Any]:
    infos: dict[str, Any] = {}
    for key, column in zip(group[1], group[2], strict=True):
        infos[key] = _column(count, column)
        infos[f"_{key}"] = np.frombuffer(b"\1" * count, bool).copy()
    return infos


def _column(count: int, column: list[Any]) -> Any:
    """Return the column of a key that all instances have."""
    kind = type(column[0])
    if kind in (bool, int, float) and list(map(type, column)).count(kind) == count:
        try:
            return np.array(column, kind)
        except OverflowError:
            pass
    return _gathered(count, dict(enumerate(column)))


def _gathered(count: int, values: dict[int, Any]) -> Any:
    """Return an array of values by instance; dictionaries become dictionaries of arrays."""
    kinds = set(map(type, values.values()))
    if kinds == {dict}:
        return vector_infos(count, (), values)
    if len(kinds) == 1 and kinds <= _PLAIN:
        array: Any = np.zeros(count, kinds.pop())
        try:
            array[list(values)] = list(values.values())
            return array
        except OverflowError:
            return _objects(count, values)
    first = values[min(values)]
    if type(first) in (bool, int, float) or isinstance(first, np.number):
        array = np.zeros(count, type(first))
    elif isinstance(first, np.ndarray):
        array = np.zeros((count, *first.shape), first.dtype)
    else:
        return _objects(count, values)
    try:
        for position, value in values.items():
            if isinstance(value, (dict, list, tuple)) or np.shape(value) != array.shape[1:]:
                return _objects(count, values)
            array[position] = value
    except (TypeError, ValueError, OverflowError):
        return _objects(count, values)
    return array


def _objects(count: int, values: dict[int, Any]) -> np.ndarray:
    array = np.full(count, None, object)
    for position, value in values.items():
        array[position] = value
    return array


def _mask(count: int, positions: list[int]) -> np.ndarray:
    mask = np.zeros(count, bool)
    mask[positions] = True
    return mask
