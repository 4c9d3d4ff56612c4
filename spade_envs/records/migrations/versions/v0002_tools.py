"""How many tools an environment has, and what else lists are narrowed by, stand with what is listed."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

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


def _fill(connection: sa.Connection) -> None:
    file = connection.exec_driver_sql("PRAGMA database_list").fetchone()
    if file is None or not file[2]:
        return
    rows = connection.exec_driver_sql("SELECT key, name, version FROM versions WHERE held").fetchall()
    found = [(_tools(Path(file[2]).parent / name / f"v{version}.json"), key) for key, name, version in rows]
    if known := [pair for pair in found if pair[0] is not None]:
        connection.exec_driver_sql("UPDATE versions SET tools = ? WHERE key = ?", known)


def _tools(report: Path) -> int | None:
    """Return what the first gate saw; None where a report cannot be read, is of another form, or says nothing."""
    saw: Any = None
    with contextlib.suppress(OSError, ValueError, RecursionError, LookupError, TypeError):
        saw = json.loads(report.read_bytes())["gates"][0]["saw"]["tools"]
    return saw if isinstance(saw, int) and 0 <= saw < 2**31 else None
