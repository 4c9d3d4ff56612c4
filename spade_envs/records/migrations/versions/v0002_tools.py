"""How many tools an environment has, and what else lists are narrowed by, stand with what is listed."""

import contextlib
import json
import logging
import os
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import sqlalchemy as sa
from alembic import op

from spade_envs.contract.printable import printable

revision = "0002"
down_revision = "0001"

_LOG = logging.getLogger(__name__)
_READERS, _PART = 8, 250
"""How many threads read, and how many reports each at a time."""
_MANY, _EVERY_S = 2_500, 5.0
"""From how many reports on it is said that this takes a while, and how often how long."""
_BEFORE = (
    *("newest", "name", "version", "domain", "status", "origin", "run", "round", "difficulty"),
    *("diversity", "regret", "success", "admitted_at"),
)


def upgrade() -> None:
    """Add the column, filled from the reports that lie beside the database; widen the index."""
    op.add_column("versions", sa.Column("tools", sa.Integer(), nullable=True))
    _fill(op.get_bind())
    op.drop_index("versions_listed", "versions")
    op.create_index("versions_listed", "versions", [*_BEFORE, "max_episode_steps", "tools"])


def downgrade() -> None:
    """Remove the column."""
    op.drop_index("versions_listed", "versions")
    op.drop_column("versions", "tools")
    op.create_index("versions_listed", "versions", list(_BEFORE))


# Alembic loads this file under a name that nobody finds, so that annotations must not be texts.
class _Saw(msgspec.Struct):
    tools: Any


class _Gate(msgspec.Struct):
    saw: msgspec.Raw = msgspec.Raw(b"{}")


class _Report(msgspec.Struct):
    gates: list[_Gate]


def _fill(connection: sa.Connection) -> None:
    """Read the reports: many at a time, since most of the time goes into waiting for the disk."""
    file = connection.exec_driver_sql("PRAGMA database_list").fetchone()
    if file is None or not file[2]:
        return
    folder = os.path.dirname(file[2])
    rows = connection.exec_driver_sql("SELECT key, name, version FROM versions WHERE held").fetchall()
    reports = [(key, f"{folder}/{name}/v{version}.json") for key, name, version in rows]
    parts = [reports[at : at + _PART] for at in range(0, len(reports), _PART)]
    if len(reports) > _MANY:
        _LOG.warning(
            "bringing %s to schema %s: %d reports to read; once", printable(file[2]), revision, len(reports)
        )
    begun = said = time.monotonic()
    with ThreadPoolExecutor(_READERS) as pool:
        for done, known in enumerate(pool.map(_read, parts), 1):
            if known:
                connection.exec_driver_sql("UPDATE versions SET tools = ? WHERE key = ?", known)
            if (now := time.monotonic()) - said > _EVERY_S:
                left = (now - begun) / done * (len(parts) - done)
                _LOG.warning("%d of %d reports read, about %.0f s left", done * _PART, len(reports), left)
                said = now


def _read(part: list[tuple[int, str]]) -> list[tuple[int, int]]:
    """Return (tools, key) for those of some reports that say it."""
    found = ((_tools(path), key) for key, path in part)
    return [(tools, key) for tools, key in found if tools is not None]


def _tools(report: str) -> int | None:
    """Return what the first gate saw; None where a report cannot be read, is of another form, or says nothing."""
    saw: Any = None
    with contextlib.suppress(OSError, ValueError, RecursionError, LookupError, TypeError):
        saw = _seen(_content(report))
    return saw if isinstance(saw, int) and 0 <= saw < 2**31 else None


def _content(path: str) -> bytes:
    file = os.open(path, os.O_RDONLY)
    try:
        return os.read(file, os.fstat(file).st_size)
    finally:
        os.close(file)


def _seen(data: bytes) -> Any:
    """Return what stands there, without reading the rest; what is not strictly JSON takes longer."""
    try:
        return msgspec.json.decode(msgspec.json.decode(data, type=_Report).gates[0].saw, type=_Saw).tools
    except msgspec.MsgspecError:
        return json.loads(data)["gates"][0]["saw"]["tools"]
