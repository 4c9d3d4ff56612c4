"""All registries as one, for who asks again and again: pages with counts of every facet, out of columns in memory."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from spade_envs.records import Query, columns, counting
from spade_envs.records.brief import Brief, briefly
from spade_envs.records.columns import Columns
from spade_envs.records.counting import Counted
from spade_envs.records.values import Range
from spade_envs.registry.overview import opened
from spade_envs.registry.remembered import Remembered
from spade_envs.registry.spotting import Places, Shelves, Spotter
from spade_envs.registry.stack import Stack

_REST = 4.0
"""After records were read for a second, changes of them may wait for so many seconds."""

_COUNTS = 500
"""Of how many questions the counts are remembered; of each some ten kilobytes."""
_ROWS = 4_000
"""How many rows are remembered, of about a kilobyte each."""

Bands = Mapping[str, tuple[Range, ...]]
_Rows = Remembered[tuple[int, int], Brief]
"""By registry and key."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What was found.

    Attributes:
        rows: the part that was asked for, each as the topmost registry knows it.
        total: how many versions the whole answer has.
        facets: of each facet how many versions each value would leave.
    """

    rows: tuple[Brief, ...]
    total: int
    facets: dict[str, tuple[Counted, ...]]


@dataclass(frozen=True, slots=True)
class _Read:
    """Columns, and what they were read from.

    Attributes:
        spotter: finds words in them.
        roots: the registries.
        state: of their records when they were read.
        until: by which time they may be used although the records have changed.
        counts: of all facets, by what is asked for.
    """

    columns: Columns
    spotter: Spotter
    roots: tuple[object, ...]
    state: tuple[object, ...]
    until: float
    counts: Remembered[tuple[object, ...], dict[str, tuple[Counted, ...]]]


class Catalogue:
    """Answers questions to a stack of registries; threads may share it.

    Args:
        stack: returns the registries, the topmost last.
    """

    def __init__(self, stack: Callable[[], Stack]) -> None:
        self._stack = stack
        self._lock = threading.Lock()
        self._read: dict[bool, _Read] = {}
        self._rows: tuple[object, _Rows] = None, Remembered(_ROWS)

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
            ranked = read.spotter.holding(shelves, query.text) if query.text.strip() else None
            words = None if ranked is None else _mask(len(read.columns), ranked)
            met = counting.masks(read.columns, query)
            order = _order(read.columns, counting.meeting(read.columns, met, words), query, ranked)
            last = None if query.limit is None else query.offset + query.limit
            rows = _rows(shelves, read.columns, order[query.offset : last], self._rows_at((roots, state)))
        asked = replace(query, sort="name", limit=None, offset=0), *bands.items()
        counts = read.counts.get(asked, partial(counting.facets, read.columns, met, words, bands))
        return Answer(rows, len(order), counts)

    def _rows_at(self, moment: object) -> _Rows:
        """Return the rows that are remembered of a state of the records: those of another one are forgotten."""
        with self._lock:
            if self._rows[0] != moment:
                self._rows = moment, Remembered(_ROWS)
            return self._rows[1]

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
            self._read[all_versions] = read = _Read(
                found, Spotter(found), roots, state, now + _REST * (now - began), Remembered(_COUNTS)
            )
            return read


def _mask(size: int, places: Places) -> counting.Mask:
    mask = np.zeros(size, np.bool_)
    mask[places] = True
    return mask


def _order(found: Columns, mask: counting.Mask, query: Query, ranked: Places | None) -> Places:
    if query.sort == "rank" and ranked is not None:
        return ranked[mask[ranked]]
    return counting.in_order(found, mask, query.sort)


def _rows(shelves: Shelves, found: Columns, places: Places, remembered: _Rows) -> tuple[Brief, ...]:
    wanted = list(zip(found.parts[places].tolist(), found.keys[places].tolist(), strict=True))
    told = remembered.known(wanted)
    for part, (_, connection) in enumerate(shelves):
        if keys := [key for of, key in wanted if of == part and (of, key) not in told]:
            new = {(part, key): row for key, row in briefly(connection, keys).items()}
            remembered.keep(new)
            told |= new
    return tuple(told[one] for one in wanted if one in told)
