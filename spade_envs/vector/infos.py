"""Infos in the form that Gymnasium's vectors have: an array for each key, and beside it which instances have it."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

import numpy as np

from spade_envs.isolation.batch_wire import Group, values_of
from spade_envs.isolation.columns import index_of

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
    groups = list(groups)
    if not rows:
        try:
            return _by_columns(count, groups)
        except (UnlikeError, OverflowError):
            pass
    found: dict[Any, dict[int, Any]] = {}
    for group in groups:
        positions = range(count) if group.rows is None else group.rows
        for key, column in zip(group.keys, group.columns, strict=True):
            found.setdefault(key, {}).update(zip(positions, values_of(column), strict=True))
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


class UnlikeError(Exception):
    """The values of a key are no numbers of one kind."""


def _by_columns(count: int, groups: list[Group]) -> dict[str, Any]:
    """Return infos of which each key has numbers of one kind.

    Raises:
        UnlikeError, OverflowError: one has others.
    """
    infos: dict[str, Any] = {}
    for group in groups:
        for key, column in zip(group.keys, group.columns, strict=True):
            values = _array(column)
            known = infos.get(key)
            if key[:1] == "_" or (known is not None and known.dtype != values.dtype):
                raise UnlikeError
            if group.rows is None and known is None:
                infos[key], infos["_" + key] = values, _everyone(count).copy()
                continue
            if known is None:
                known = infos[key] = np.zeros(count, values.dtype)
                infos["_" + key] = np.zeros(count, bool)
            rows = index_of(group.rows)
            known[rows], infos["_" + key][rows] = values, True
    return infos


def _array(column: Any) -> np.ndarray:
    if type(column) is bytes:
        return np.frombuffer(column, bool).copy()
    kind = type(column[0]) if column else None
    if kind not in _PLAIN or list(map(type, column)).count(kind) != len(column):
        raise UnlikeError
    return np.array(column, kind)


@functools.cache
def _everyone(count: int) -> np.ndarray:
    return np.ones(count, bool)


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
