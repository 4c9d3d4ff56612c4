"""What only the records know, read out of a database as far as that goes, and written into a new one.

Rows are read from both ends of a table, so that one damaged page costs the rows on it and no others. What comes out of
a damaged or strange file is believed only where it has the form of a row.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import JSON, Boolean, Column, Connection, Float, Integer, Table, func, insert, select

from spade_envs.contract.findings import Finding
from spade_envs.contract.ids import EnvId
from spade_envs.records import changes, filing
from spade_envs.records.schema import DAMAGED, connect
from spade_envs.records.tables import CHOICES, MEASUREMENTS, REFUSALS, SKILLS, STATUSES, VERSIONS
from spade_envs.records.values import STATUSES as KNOWN

Rows = list[dict[str, Any]]
Wanted = Callable[[dict[str, Any]], bool]
HAPPENED = (STATUSES, MEASUREMENTS, CHOICES)
"""What happened to environments: no file holds it."""


@dataclass(frozen=True, slots=True)
class Salvage:
    """What was read.

    Attributes:
        happened: table name -> rows, the oldest first.
        versions: those that have no file here: another registry's, and those whose files are gone or broken. With
            ``skills``, and ``texts`` where they could be read.
        refusals: refused designs.
        held: ids that were on record as this registry's own.
        lost: table name -> how many rows could not be read; None where that cannot be told.
    """

    happened: dict[str, Rows] = field(default_factory=lambda: {table.name: [] for table in HAPPENED})
    versions: Rows = field(default_factory=list)
    refusals: Rows = field(default_factory=list)
    held: frozenset[str] = frozenset()
    lost: dict[str, int | None] = field(default_factory=dict)


@contextlib.contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Give a connection to a file that may be damaged, which sees it as it is now, whatever is written meanwhile."""
    with contextlib.closing(connect(path, read_only=True)) as connection:
        connection.isolation_level = None
        connection.text_factory = _text
        connection.execute("PRAGMA writable_schema = ON")  # else nothing is read of a file that was cut off
        with contextlib.suppress(*DAMAGED):
            connection.execute("BEGIN")
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()
        yield connection


def read(connection: sqlite3.Connection, filed: Collection[str]) -> Salvage:
    """Read what can be read.

    Args:
        connection: see :func:`opened`.
        filed: ids whose files say all that a row of ``versions`` would.
    """
    lost: dict[str, int | None] = {}
    happened = {table.name: _read(connection, table, lost) for table in HAPPENED}
    refusals = _read(connection, REFUSALS, lost)
    held: set[str] = set()

    def wanted(row: dict[str, Any]) -> bool:
        if row.get("held") and isinstance(row.get("id"), str):
            held.add(row["id"])
        return row.get("id") not in filed

    rows = _read(
        connection, VERSIONS, {}, wanted
    )  # what is missing of them is found out when they are written
    versions = [{**row, **_beside(connection, row)} for row in rows]
    return Salvage(happened, versions, refusals, frozenset(held), lost)


def restore(connection: Connection, salvage: Salvage, there: Collection[str]) -> dict[str, int]:
    """Write into new records, after what the files say, what they do not.

    Args:
        connection: in a transaction.
        salvage: what was read of the old ones.
        there: ids of which a file lies here, be it a broken one: they stay this registry's own.

    Returns:
        Table -> how many rows were written; ``others``: versions that have no file here.
    """
    known = set(connection.execute(select(VERSIONS.c.id)).scalars())
    others = [row for row in salvage.versions if row["id"] not in known]
    for row in others:
        filing.enter_row(connection, {**row, "held": row["held"] and row["id"] in there})
    first = {tuple(row) for row in connection.execute(select(*_FIRST))}
    new = [row for row in salvage.happened["statuses"] if tuple(row[one.name] for one in _FIRST) not in first]
    written = {"others": len(others), "statuses": _insert(connection, STATUSES, new)}
    for table in (MEASUREMENTS, CHOICES):
        written[table.name] = _insert(connection, table, salvage.happened[table.name])
    written["refusals"] = _insert(connection, REFUSALS, salvage.refusals)
    changes.stand_as_recorded(connection, {row["id"] for row in new})
    changes.show_newest(connection, {row["id"] for row in salvage.happened["measurements"]})
    return {name: count for name, count in written.items() if count}


_FIRST = (STATUSES.c.id, STATUSES.c.status, STATUSES.c.at, STATUSES.c.run, STATUSES.c.round)
"""By what a status is known as one that the report of the admission tells, too."""


def _read(
    connection: sqlite3.Connection, table: Table, lost: dict[str, int | None], wanted: Wanted = lambda _: True
) -> Rows:
    """Return the rows of a table, the oldest first, and note how many there are that could not be read."""
    found: dict[int, dict[str, Any] | None] = {}
    whole = _read_from(connection, table, "ASC", found, wanted)
    if not whole:
        _read_from(connection, table, "DESC", found, wanted)
    rows = [row for _, row in sorted(found.items()) if row is not None and _is_row(table, row)]
    count = _count(connection, table)  # by an index, which may know more than the table
    if count is None and not whole:
        lost[table.name] = None
    elif missing := max(count or 0, len(found)) - len(rows):
        lost[table.name] = missing
    return [_decoded(table, row) for row in rows]


def _read_from(
    connection: sqlite3.Connection,
    table: Table,
    direction: str,
    found: dict[int, dict[str, Any] | None],
    wanted: Wanted,
) -> bool:
    """Read rows from one end of a table up to what cannot be read; return whether that is its other end."""
    try:
        there = {row[1] for row in connection.execute(f"PRAGMA table_info({table.name})").fetchall()}
        names = [column.name for column in table.columns if column.name in there]
        chosen = ", ".join(f'"{name}"' for name in names)
        for rowid, *values in connection.execute(
            f"SELECT rowid, {chosen} FROM {table.name} ORDER BY rowid {direction}"
        ):
            if rowid in found:
                return False
            row = dict(zip(names, values, strict=True))
            found[rowid] = row if wanted(row) else None  # few are, of a large registry
    except DAMAGED:
        return False
    return True


def _count(connection: sqlite3.Connection, table: Table) -> int | None:
    """Return how many rows a table has, if that can be told."""
    with contextlib.suppress(*DAMAGED):
        return int(connection.execute(f"SELECT count(*) FROM {table.name}").fetchone()[0])
    return None


def _text(content: bytes) -> str | bytes:
    """Return a text, or the bytes of what is none."""
    with contextlib.suppress(UnicodeDecodeError):
        return content.decode()
    return content


def _is_row(table: Table, row: dict[str, Any]) -> bool:
    if any(not _fits(column, row.get(column.name)) for column in table.columns):
        return False
    if table is STATUSES and row["status"] not in KNOWN:
        return False
    if table in HAPPENED and not _is_time(row["at"]):
        return False
    return table is REFUSALS or not isinstance(EnvId.parse(row["id"]), Finding)


def _is_time(text: str) -> bool:
    with contextlib.suppress(ValueError):
        return not text or bool(datetime.fromisoformat(text))
    return False


def _fits(column: Column[Any], value: Any) -> bool:
    if value is None:
        return bool(column.nullable)
    kind = column.type
    if isinstance(kind, JSON):
        return isinstance(value, str) and _json(value) is not None
    if isinstance(kind, Float):
        return isinstance(value, float | int)
    return isinstance(value, int if isinstance(kind, Integer | Boolean) else str)


def _decoded(table: Table, row: dict[str, Any]) -> dict[str, Any]:
    """Return a row as it is written: every column but the key, which is given anew."""
    columns = [column for column in table.columns if column.name != "key"]
    values = {
        one.name: _json(row[one.name]) if isinstance(one.type, JSON) else row.get(one.name) for one in columns
    }
    return values | ({"key": row["key"]} if table is VERSIONS else {})


def _json(text: str) -> Any:
    with contextlib.suppress(ValueError):
        return json.loads(text)
    return None


def _beside(connection: sqlite3.Connection, row: dict[str, Any]) -> dict[str, Any]:
    """Return the skills of a version and, where they can be read, the texts that it is found by."""
    found: dict[str, Any] = {"skills": [], "texts": None}
    with contextlib.suppress(*DAMAGED):
        of_it = connection.execute(
            f"SELECT skill FROM {SKILLS.name} WHERE key = ? ORDER BY skill", (row["key"],)
        )
        found["skills"] = [skill for (skill,) in of_it.fetchall() if isinstance(skill, str)]
        texts = "SELECT name, title, summary, skills, rules FROM texts WHERE rowid = ?"
        found["texts"] = connection.execute(texts, (row["key"],)).fetchone()
    return found


def _insert(connection: Connection, table: Table, rows: Iterable[dict[str, Any]]) -> int:
    """Insert rows where nothing else has their place; return how many."""
    before = connection.execute(select(func.count()).select_from(table)).scalar_one()
    for part in filing.batched(rows, 500):
        connection.execute(insert(table).prefix_with("OR IGNORE"), part)
    return int(connection.execute(select(func.count()).select_from(table)).scalar_one() - before)
