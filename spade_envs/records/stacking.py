"""The records of several registries as one: what lies further up hides what lies below.

Two of them are compared from the smaller side: of the larger one only what the smaller one has, too, is read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, TypeVar

from sqlalchemy import Connection, Select, func, select

from spade_envs.records import reading
from spade_envs.records.query import Query, Scope, each
from spade_envs.records.tables import VERSIONS
from spade_envs.records.values import Listed

Stack = Sequence[Connection]
"""Open connections, the lowest registry first."""
_Value = TypeVar("_Value")


def page(stack: Stack, query: Query) -> tuple[list[Listed], int]:
    """Return the part of the answer that a question asks for, and how long the whole answer is."""
    scopes = scopes_of(stack, all_versions=query.all_versions)
    if query.text.strip():
        return _with_words(stack, query, scopes)
    counts = [reading.count(part, query, scope) for part, scope in zip(stack, scopes, strict=True)]
    last = sum(counts) if query.limit is None else query.offset + query.limit
    skipped, rows = 0, []
    for part, scope, size in zip(stack, scopes, counts, strict=True):
        first = min(size, max(0, query.offset - (sum(counts) - size)))  # even if all others come before it
        if first < min(size, last):
            rows += reading.sorted_rows(part, replace(query, offset=first, limit=last - first), scope)
        skipped += first
    return _in_order(rows)[query.offset - skipped : last - skipped], sum(counts)


def _with_words(stack: Stack, query: Query, scopes: Sequence[Scope]) -> tuple[list[Listed], int]:
    """The same where a count takes as long as the rows do: all of them from the first on, counted as they come."""
    last = None if query.limit is None else query.offset + query.limit
    whole = replace(
        query, offset=0, limit=None if last is None else max(1, last)
    )  # without rows there is no count
    parts = [reading.counted_rows(part, whole, scope) for part, scope in zip(stack, scopes, strict=True)]
    rows = _in_order([row for found, _ in parts for row in found])
    return rows[query.offset : last], sum(total for _, total in parts)


def _in_order(rows: list[tuple[Any, Listed]]) -> list[Listed]:
    rows = sorted(rows, key=lambda row: (row[1].name, row[1].version))
    rows.sort(key=lambda row: (row[0] is not None, row[0]), reverse=True)
    return [row for _, row in rows]


def scopes_of(stack: Stack, *, all_versions: bool) -> list[Scope]:
    """Return for each registry which of its versions count: the topmost of an id; none that no registry holds."""
    parts = [_Part(one, [other for other in stack if other is not one]) for one in stack]
    for low, high in combinations(parts, 2):
        (_hide_doubles if all_versions else _hide_older)(low, high)
    return [
        Scope(frozenset(part.hidden), frozenset(key for _, key in part.instead.values())) for part in parts
    ]


def held_in(connection: Connection, ids: Collection[str]) -> set[str]:
    """Return which of these versions a registry holds itself."""
    held = select(VERSIONS.c.id).where(VERSIONS.c.held, VERSIONS.c.id.in_(each(ids)))
    return set(connection.execute(held).scalars())


class _Part:
    """One registry's records among those of others.

    Attributes:
        size: about how many versions they have.
        lost: keys of versions that no registry holds any more.
        instead: of each name whose newest version is one of these, the newest that is not, and its key.
        hidden: keys of versions that do not count: for a start the lost ones.
    """

    def __init__(self, connection: Connection, others: Stack) -> None:
        self._connection = connection
        self.size = connection.execute(select(func.max(VERSIONS.c.key))).scalar_one() or 0
        borrowed = self._ids(select(VERSIONS.c.id, VERSIONS.c.key).where(~VERSIONS.c.held))
        held = set().union(*(held_in(other, borrowed) for other in others)) if borrowed else set()
        self.lost = {key for env_id, key in borrowed.items() if env_id not in held}
        self.instead = self._left() if self.lost else {}
        self.hidden = set(self.lost)

    def newest(self, names: Iterable[str] | None = None) -> dict[str, tuple[int, int]]:
        """Return of every name, or of these, the newest version that counts, and its key."""
        columns = VERSIONS.c
        statement = select(columns.name, columns.version, columns.key).where(columns.newest)
        if names is not None:
            statement = statement.where(columns.name.in_(each(names)))
        found = {
            row.name: (row.version, row.key)
            for row in self._connection.execute(statement)
            if row.key not in self.lost
        }
        return found | self.instead

    def ids(self, ids: Iterable[str] | None = None) -> dict[str, int]:
        """Return of every version on record, or of these, the key."""
        statement = select(VERSIONS.c.id, VERSIONS.c.key)
        return self._ids(statement if ids is None else statement.where(VERSIONS.c.id.in_(each(ids))))

    def _ids(self, statement: Select[tuple[str, int]]) -> dict[str, int]:
        return {row.id: row.key for row in self._connection.execute(statement)}

    def _left(self) -> dict[str, tuple[int, int]]:
        columns, lost = VERSIONS.c, each(self.lost)
        names = select(columns.name).where(columns.newest, columns.key.in_(lost))
        left = select(columns.name, columns.version, columns.key).where(
            columns.name.in_(names), columns.key.not_in(lost)
        )
        rows = self._connection.execute(left.order_by(columns.version))
        return {row.name: (row.version, row.key) for row in rows}


def _hide_doubles(low: _Part, high: _Part) -> None:
    below, above = _shared(low, high, _Part.ids)
    low.hidden |= {below[env_id] for env_id in below.keys() & above.keys()}


def _hide_older(low: _Part, high: _Part) -> None:
    below, above = _shared(low, high, _Part.newest)
    for name in below.keys() & above.keys():
        if below[name][0] > above[name][0]:
            high.hidden.add(above[name][1])
        else:
            low.hidden.add(below[name][1])


def _shared(
    low: _Part, high: _Part, of: Callable[..., dict[str, _Value]]
) -> tuple[dict[str, _Value], dict[str, _Value]]:
    """Return what both have: all of the smaller one, and of the larger one what that has."""
    if low.size <= high.size:
        below = of(low)
        return below, of(high, below)
    above = of(high)
    return of(low, above), above
