"""Which schema a database has, a new one, and the way from an old one."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path

from sqlalchemy import Connection

from spade_envs.records.tables import METADATA, SCHEMA, TEXTS

WAIT_S = 30.0
"""How long a transaction waits for another process's."""
DAMAGED = (sqlite3.DatabaseError, UnicodeDecodeError)
"""What reading a damaged file raises; where SQLite quotes it, Python may be unable to decode the message."""
_STAMP = "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"


def connect(path: Path, read_only: bool) -> sqlite3.Connection:
    """Connect to an existing file, also where its folder cannot be written. Raises sqlite3.Error."""
    alone = (
        read_only and not path.with_name(f"{path.name}-wal").exists() and not os.access(path.parent, os.W_OK)
    )
    how = f"mode={'ro' if read_only else 'rw'}{'&immutable=1' if alone else ''}"
    return sqlite3.connect(f"{path.as_uri()}?{how}", uri=True, timeout=WAIT_S, check_same_thread=False)


def schema_of(path: Path) -> str | None:
    """Return the schema that a database has; None where it has none. Raises one of DAMAGED for what is no database."""
    with contextlib.closing(connect(path, read_only=True)) as connection:
        known = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'").fetchone()
        found = connection.execute("SELECT version_num FROM alembic_version").fetchone() if known else None
    return found[0] if found else None


def build(connection: Connection) -> None:
    """Make all tables, at the newest schema: what the migrations make, without loading them."""
    METADATA.create_all(connection)
    connection.exec_driver_sql(TEXTS)
    connection.exec_driver_sql(_STAMP)
    connection.exec_driver_sql("INSERT INTO alembic_version VALUES (?)", (SCHEMA,))


def clear(connection: Connection) -> None:
    """Remove all tables, in the transaction of this connection."""
    METADATA.drop_all(connection)
    for table in ("texts", "alembic_version"):
        connection.exec_driver_sql(f"DROP TABLE IF EXISTS {table}")


def known_schemas() -> list[str]:
    """Return the schemas that this version can read, the newest first."""
    from alembic.script import ScriptDirectory

    return [script.revision for script in ScriptDirectory(_migrations()).walk_revisions()]


def migrate(connection: Connection) -> None:
    """Bring a database of an older schema to the newest, in the transaction of this connection."""
    from alembic import command
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", _migrations().replace("%", "%%"))
    command.upgrade(config, SCHEMA)


def _migrations() -> str:
    return str(Path(__file__).with_name("migrations"))
