"""All registries as one, for who asks again and again: pages with counts of every facet, out of columns in memory."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from spade_envs.records import Listed, Query, columns, counting, reading, searching
from spade_envs.records.columns import Columns
from spade_envs.records.counting import Counted
from spade_envs.records.values import Range
from spade_envs.registry.overview import Found, Page, held_by, opened
from spade_envs.registry.stack import Stack
from spade_envs.registry.store import Registry

LATELY = 24
"""How many measurements of each version are told."""
RANKED = 1_000
"""Where more versions than these hold the words, they stand by name: none of so many is the one that is looked for."""
_REMEMBERED = 64
_REST = 4.0
"""After records were read for a second, changes of them may wait for so many seconds."""

Shelves = list[tuple[Registry, Connection]]
Bands = Mapping[str, tuple[Range, ...]]


@dataclass(frozen=True, slots=True)
class Answer:
    """What was found.

    Attributes:
        page: the part that was asked for.
        facets: of each facet how many versions each value would leave.
        lately: success and regret of the last measurements of each version of the part, the oldest first.
    """

    page: Page
    facets: dict[str, tuple[Counted, ...]]
    lately: dict[str, list[tuple[float | None, float | None]]]


@dataclass(frozen=True, slots=True)
class _Read:
    """Columns, and what they were read from.

    Attributes:
        roots: the registries.
        state: of their records when they were read.
        until: by which time they may be used although the records have changed.
    """

    columns: Columns
    roots: tuple[object, ...]
    state: tuple[object, ...]
    until: float


class Catalogue:
    """Answers questions to a stack of registries; threads may share it.

    Args:
        stack: returns the registries, the topmost last.
    """

    def __init__(self, stack: Callable[[], Stack]) -> None:
        self._stack = stack
        self._lock = threading.Lock()
        self._read: dict[bool, _Read] = {}
        self._words: OrderedDict[tuple[object, ...], NDArray[np.int64]] = OrderedDict()

    def ask(self, query: Query, bands: Bands) -> Answer:
        """Return a part of what is asked for, with all counts.

        Args:
            query: as for :func:`spade_envs.registry.overview.ask`; the rank is by where the words stand.
            bands: of each facet that is a range, the ranges to count.

        Raises:
            RegistryError: records break while they are read.
        """
        stack = self._stack()
        roots, state = tuple(one.root for one in stack), tuple(one.records.state for one in stack)
        with opened(stack) as shelves:
            read = self._columns(shelves, roots, state, query.all_versions)
            ranked = self._holding(shelves, read, query) if query.text.strip() else None
            words = None if ranked is None else _mask(len(read.columns), ranked)
            met = counting.masks(read.columns, query)
            order = _order(read.columns, counting.meeting(read.columns, met, words), query, ranked)
            last = None if query.limit is None else query.offset + query.limit
            rows = _rows(shelves, read.columns, order[query.offset : last])
            facets = counting.facets(read.columns, met, words, bands)
            return Answer(Page(tuple(rows), len(order)), facets, _lately(shelves, rows))

    def _columns(
        self, shelves: Shelves, roots: tuple[object, ...], state: tuple[object, ...], all_versions: bool
    ) -> _Read:
        """Read the records if they have changed, one thread for all."""
        with self._lock:
            known = self._read.get(all_versions)
            began = time.monotonic()
            if known and known.roots == roots and (known.state == state or began < known.until):
                return known
            found = columns.read([connection for _, connection in shelves], all_versions=all_versions)
            now = time.monotonic()
            self._read[all_versions] = read = _Read(found, roots, state, now + _REST * (now - began))
            return read

    def _holding(self, shelves: Shelves, read: _Read, query: Query) -> NDArray[np.int64]:
        """Return the places of the versions that hold the words, the best first; remembered while nothing changes."""
        asked = (read.roots, read.state, query.all_versions, query.text)
        with self._lock:
            if (known := self._words.get(asked)) is not None:
                self._words.move_to_end(asked)
                return known
        found = _searched(shelves, read.columns, query.text)
        with self._lock:
            self._words[asked] = found
            if len(self._words) > _REMEMBERED:
                self._words.popitem(last=False)
        return found


def _searched(shelves: Shelves, found: Columns, words: str) -> NDArray[np.int64]:
    parts = [
        index.of(np.array(searching.holding(connection, words), np.int64))
        for index, (_, connection) in zip(found.index, shelves, strict=True)
    ]
    places = np.sort(np.concatenate([*parts, np.empty(0, np.int64)]))
    if len(places) > RANKED:
        return places
    weights = np.zeros(len(places), np.int64)
    for part, (_, connection) in enumerate(shelves):
        own = np.flatnonzero(found.parts[places] == part)
        fits = searching.fitting(connection, found.keys[places[own]].tolist(), words)
        weights[own] = [fits.get(key, 0) for key in found.keys[places[own]].tolist()]
    return places[np.argsort(-weights, kind="stable")]


def _mask(size: int, places: NDArray[np.int64]) -> counting.Mask:
    mask = np.zeros(size, np.bool_)
    mask[places] = True
    return mask


def _order(
    found: Columns, mask: counting.Mask, query: Query, ranked: NDArray[np.int64] | None
) -> NDArray[np.int64]:
    if query.sort == "rank" and ranked is not None:
        return ranked[mask[ranked]]
    return counting.in_order(found, mask, query.sort)


def _rows(shelves: Shelves, found: Columns, places: NDArray[np.int64]) -> list[Found]:
    listed: dict[tuple[int, int], Listed] = {}
    for part, (_, connection) in enumerate(shelves):
        keys = found.keys[places[found.parts[places] == part]].tolist()
        listed |= {(part, key): row for key, row in reading.rows(connection, keys).items()}
    wanted = zip(found.parts[places].tolist(), found.keys[places].tolist(), strict=True)
    rows = [listed[one] for one in wanted if one in listed]
    holders = held_by(shelves, [row.id for row in rows])
    return [Found(row, holders[row.id]) for row in rows if row.id in holders]


def _lately(shelves: Shelves, rows: list[Found]) -> dict[str, list[tuple[float | None, float | None]]]:
    """What several registries measured stands in the topmost's order of time."""
    found: dict[str, list[tuple[float | None, float | None]]] = {}
    for _, connection in shelves:
        measured = reading.lately_measured(connection, [row.listed.id for row in rows], LATELY)
        for env_id, values in measured.items():
            found[env_id] = [*found.get(env_id, []), *values][-LATELY:]
    return found
