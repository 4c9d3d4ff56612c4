"""A question answered out of columns: which versions, in which order, and how many there would be beside them.

Pure functions. What they find is what :func:`spade_envs.records.stacking.page` finds, words apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spade_envs.records.columns import Columns, Tagged
from spade_envs.records.query import RANGES, Query
from spade_envs.records.values import EVERYTHING, Range

Mask = NDArray[np.bool_]
EQUAL = ("domain", "status", "origin", "run", "round", "name")
"""What of a question is equal to one value."""
FACETS = ("domain", "skill", "status", "origin", "run", "round", "tools", *RANGES)
"""What a question can be narrowed by, and counted by."""


@dataclass(frozen=True, slots=True)
class Counted:
    """How many versions have one value of a facet.

    Attributes:
        value: a word or a number, a range of a facet that is one, True or False of tools.
        versions: how many there are that meet all else that is asked for.
    """

    value: Any
    versions: int


def masks(columns: Columns, query: Query) -> dict[str, Mask]:
    """Return for each part of a question but its words which versions meet it; nothing for what does not matter."""
    found: dict[str, Mask] = {}
    for name in EQUAL:
        if (value := getattr(query, name)) is not None:
            found[name] = columns.coded[name].codes == columns.coded[name].place(value)
    if query.skill:
        found["skill"] = np.zeros(len(columns), np.bool_)
        found["skill"][columns.skills.of(query.skill)] = True
    if query.tools is not None:
        found["tools"] = _with_tools(columns, query.tools)
    for name, column in RANGES.items():
        if (between := getattr(query, name)) != EVERYTHING:
            found[name] = within(columns.numbers[column], between)
    return found


def meeting(columns: Columns, met: Mapping[str, Mask], words: Mask | None, without: str = "") -> Mask:
    """Return which versions meet all of a question, or all but one part of it."""
    whole = np.ones(len(columns), np.bool_) if words is None else words.copy()
    for name, mask in met.items():
        if name != without:
            whole &= mask
    return whole


def facets(
    columns: Columns, met: Mapping[str, Mask], words: Mask | None, bands: Mapping[str, tuple[Range, ...]]
) -> dict[str, tuple[Counted, ...]]:
    """Return for each facet how many versions each of its values would leave, all else of the question as it is.

    Args:
        columns: all versions.
        met: what :func:`masks` says.
        words: which versions hold the words; None where none are asked for.
        bands: of each facet that is a range, the ranges to count.
    """
    whole = meeting(columns, met, words)
    found_by_all = np.flatnonzero(whole)
    counters: dict[str, Callable[[Mask], list[tuple[Any, int]]]] = {
        "skill": lambda mask: _of_skills(columns.skills, mask),
        "tools": lambda mask: [(has, _number(mask & _with_tools(columns, has))) for has in (True, False)],
    }
    found: dict[str, tuple[Counted, ...]] = {}
    for name in FACETS:
        mask = meeting(columns, met, words, without=name) if name in met else whole
        places = np.flatnonzero(mask) if name in met else found_by_all
        if name in RANGES:
            numbers = columns.numbers[RANGES[name]][places]
            pairs = [(band, _number(within(numbers, band))) for band in bands.get(name, ())]
        elif name in counters:
            pairs = counters[name](mask)
        else:
            column = columns.coded[name]
            pairs = _tally(column.values, column.codes[places])
        found[name] = tuple(Counted(value, versions) for value, versions in pairs if value is not None)
    return found


def in_order(columns: Columns, mask: Mask, sort: str) -> NDArray[np.int64]:
    """Return the places of versions in the order that is asked for: by name, or the largest first, None last."""
    if sort in ("name", "rank"):
        return np.flatnonzero(mask)
    places = columns.orders[sort]
    return places[mask[places]]


def within(numbers: NDArray[np.float64], between: Range) -> Mask:
    """Return which numbers lie between two, both included; what is missing lies nowhere."""
    low, high = between
    return np.asarray((numbers >= low) & (numbers <= high))


def _with_tools(columns: Columns, has: bool) -> Mask:
    tools = columns.numbers["tools"]
    return np.asarray(tools > 0 if has else tools == 0)


def _tally(values: tuple[Any, ...], codes: NDArray[np.int32]) -> list[tuple[Any, int]]:
    counts = np.bincount(codes, minlength=len(values)) if len(values) else np.empty(0, np.int64)
    return [(values[place], int(counts[place])) for place in np.flatnonzero(counts)]


def _of_skills(skills: Tagged, mask: Mask) -> list[tuple[Any, int]]:
    so_far = np.concatenate([np.zeros(1, np.int64), np.cumsum(mask[skills.places], dtype=np.int64)])
    counts = np.diff(so_far[skills.bounds])
    return [(skills.values[place], int(counts[place])) for place in np.flatnonzero(counts)]


def _number(mask: Mask) -> int:
    return int(np.count_nonzero(mask))
