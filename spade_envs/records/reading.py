"""Answers out of the records."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Row, bindparam, func, select, union

from spade_envs.records.filing import batched
from spade_envs.records.query import Query, Scope, each, in_order, matching
from spade_envs.records.tables import CHOICES, MEASUREMENTS, REFUSALS, SKILLS, STATUSES, VERSIONS
from spade_envs.records.values import Choice, Listed, Measured, Refusal, StatusChange

_AT_ONCE = 500
"""How many values one statement carries: SQLite has a limit."""
_OF_ID = {
    table: select(table).where(table.c.id == bindparam("of")).order_by(table.c.key)
    for table in (VERSIONS, STATUSES, MEASUREMENTS, CHOICES)
}
"""Made once: making one takes three times as long as answering it."""
_TOLD = [name for name in Listed.__dataclass_fields__ if name != "skills"]
_SKILLS_OF_KEY = select(SKILLS.c.skill).where(SKILLS.c.key == bindparam("of")).order_by(SKILLS.c.skill)


def listed(connection: Connection, query: Query, scope: Scope = Scope()) -> list[Listed]:  # noqa: B008 (frozen)
    """Return what a question asks for, in its order."""
    return [row for _, row in sorted_rows(connection, query, scope)]


def sorted_rows(connection: Connection, query: Query, scope: Scope) -> list[tuple[Any, Listed]]:
    """Return what a question asks for, in its order, each with what it is sorted by (None: its name)."""
    statement = in_order(query, scope).limit(query.limit).offset(query.offset)
    return _whole(connection, {row.key: row.by for row in connection.execute(statement)})


def counted_rows(connection: Connection, query: Query, scope: Scope) -> tuple[list[tuple[Any, Listed]], int]:
    """Return the same and, where there are any, how long the whole answer is; words are searched for once for both."""
    statement = in_order(query, scope).add_columns(func.count().over().label("total"))
    found = connection.execute(statement.limit(query.limit).offset(query.offset)).all()
    return _whole(connection, {row.key: row.by for row in found}), found[0].total if found else 0


def count(connection: Connection, query: Query, scope: Scope = Scope()) -> int:  # noqa: B008 (frozen)
    """Return how many versions answer a question, whatever its limit."""
    statement = matching(replace(query, sort="name"), scope, func.count()).select_from(VERSIONS)
    return int(connection.execute(statement).scalar_one())


def rows(connection: Connection, keys: Iterable[int]) -> dict[int, Listed]:
    """Return the versions with these keys, as far as there are any."""
    found: dict[int, Listed] = {}
    for part in batched(keys, _AT_ONCE):
        found |= _rows(connection, connection.execute(select(VERSIONS).where(VERSIONS.c.key.in_(part))))
    return found


def one(connection: Connection, env_id: str) -> Listed | None:
    """Return what is on record of one version."""
    row = connection.execute(_OF_ID[VERSIONS], {"of": env_id}).first()
    if row is None:
        return None
    return _listed(row, connection.execute(_SKILLS_OF_KEY, {"of": row.key}).scalars())


def by_code(connection: Connection, code_sha256: str) -> list[str]:
    """Return the held versions with this code, by name and version."""
    statement = select(VERSIONS.c.id).where(VERSIONS.c.code_sha256 == code_sha256, VERSIONS.c.held)
    return list(connection.execute(statement.order_by(VERSIONS.c.name, VERSIONS.c.version)).scalars())


def versions_of(connection: Connection, names: Iterable[str]) -> dict[str, list[int]]:
    """Return which versions of these names are on record as held by the registry itself."""
    found: dict[str, list[int]] = {}
    for part in batched(names, _AT_ONCE):
        statement = select(VERSIONS.c.name, VERSIONS.c.version).where(VERSIONS.c.name.in_(part))
        for row in connection.execute(statement.where(VERSIONS.c.held)):
            found.setdefault(row.name, []).append(row.version)
    return found


def names(connection: Connection) -> list[str]:
    """Return every name on record."""
    return list(connection.execute(select(VERSIONS.c.name).where(VERSIONS.c.newest)).scalars())


def held(connection: Connection) -> list[str]:
    """Return the ids of the versions that the registry holds itself."""
    return list(connection.execute(select(VERSIONS.c.id).where(VERSIONS.c.held)).scalars())


def strangers(connection: Connection) -> list[str]:
    """Return the ids to which something happened and which are not on record themselves."""
    happened = union(*(select(table.c.id) for table in (STATUSES, MEASUREMENTS, CHOICES))).subquery()
    return list(
        connection.execute(select(happened.c.id).where(happened.c.id.not_in(select(VERSIONS.c.id)))).scalars()
    )


def skills(connection: Connection) -> list[str]:
    """Return every skill on record."""
    return list(connection.execute(select(SKILLS.c.skill).distinct()).scalars())


def runs(connection: Connection) -> list[str]:
    """Return the name of every run that put anything on record."""
    ran = union(*(select(table.c.run) for table in (VERSIONS, STATUSES, MEASUREMENTS, CHOICES)))
    return [run for run in connection.execute(ran).scalars() if run is not None]


def told(connection: Connection, ids: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return id -> title and status of those of these versions that are on record."""
    statement = select(VERSIONS.c.id, VERSIONS.c.title, VERSIONS.c.status)
    rows = connection.execute(statement.where(VERSIONS.c.id.in_(each(ids))))
    return {row.id: (row.title, row.status) for row in rows}


def children(connection: Connection, ids: Iterable[str]) -> list[tuple[str, str]]:
    """Return (parent, child) for every version that was made from one of these."""
    pairs: list[tuple[str, str]] = []
    for part in batched(ids, _AT_ONCE):
        statement = select(VERSIONS.c.parent, VERSIONS.c.id).where(VERSIONS.c.parent.in_(part))
        pairs += [(row.parent, row.id) for row in connection.execute(statement)]
    return pairs


def parent(connection: Connection, env_id: str) -> str | None:
    """Return what a version was made from."""
    return connection.execute(select(VERSIONS.c.parent).where(VERSIONS.c.id == env_id)).scalars().first()


def statuses(connection: Connection, env_id: str) -> list[StatusChange]:
    """Return every change of a version's status, the oldest first."""
    return [StatusChange(**row) for row in _all_of(connection, STATUSES, env_id)]


def measurements(connection: Connection, env_id: str) -> list[Measured]:
    """Return every round's measures of a version, the oldest first."""
    return [Measured(**row) for row in _all_of(connection, MEASUREMENTS, env_id)]


def choices(connection: Connection, env_id: str) -> list[Choice]:
    """Return when a version was chosen, the oldest first."""
    return [Choice(**row) for row in _all_of(connection, CHOICES, env_id)]


def refusals(connection: Connection, limit: int | None = None, gate: str | None = None) -> list[Refusal]:
    """Return the refused designs, the newest first: all, or those that did not pass one gate."""
    statement = select(REFUSALS).order_by(REFUSALS.c.last_at.desc(), REFUSALS.c.code_sha256).limit(limit)
    if gate is not None:
        statement = statement.where(REFUSALS.c.gate == gate)
    rows = connection.execute(statement).mappings()
    return [Refusal(**{**row, "reasons": tuple(row["reasons"])}) for row in rows]


def refused_by(connection: Connection) -> dict[str, int]:
    """Return gate -> how many designs it was the first to refuse."""
    counted = select(REFUSALS.c.gate, func.count().label("designs")).group_by(REFUSALS.c.gate)
    return {row.gate: row.designs for row in connection.execute(counted)}


def totals(connection: Connection) -> dict[str, int]:
    """Return how many rows there are of each kind."""
    tables = (VERSIONS, STATUSES, MEASUREMENTS, CHOICES, REFUSALS)
    return {t.name: connection.execute(select(func.count()).select_from(t)).scalar_one() for t in tables}


def _all_of(connection: Connection, table: Any, env_id: str) -> list[dict[str, Any]]:
    rows = connection.execute(_OF_ID[table], {"of": env_id}).mappings()
    return [{name: value for name, value in row.items() if name != "key"} for row in rows]


def _whole(connection: Connection, by: dict[int, Any]) -> list[tuple[Any, Listed]]:
    found = rows(connection, by)
    return [(value, found[key]) for key, value in by.items()]


def _rows(connection: Connection, rows: Iterable[Row[Any]]) -> dict[int, Listed]:
    found = {row.key: row for row in rows}
    skills = _skills(connection, list(found))
    return {key: _listed(row, skills.get(key, ())) for key, row in found.items()}


def _listed(row: Row[Any], skills: Iterable[str]) -> Listed:
    told = row._mapping
    return Listed(**{name: told[name] for name in _TOLD}, skills=tuple(skills))


def _skills(connection: Connection, keys: list[int]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for part in batched(keys, _AT_ONCE):
        statement = select(SKILLS).where(SKILLS.c.key.in_(part)).order_by(SKILLS.c.skill)
        for row in connection.execute(statement):
            found.setdefault(row.key, []).append(row.skill)
    return found
