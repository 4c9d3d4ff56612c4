"""The database file: opened, brought up to date, and used in transactions that either happen or do not."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from sqlalchemy import Connection, Engine, NullPool, StaticPool, create_engine, event
from sqlalchemy.exc import DBAPIError

from spade_envs.contract.printable import printable
from spade_envs.errors import RegistryError
from spade_envs.records.schema import build, known_schemas, migrate, schema_of
from spade_envs.records.tables import SCHEMA

WAIT_S = 30.0
"""How long a transaction waits for another process's."""
Fill = Callable[[Connection], None]
_REBUILD = "move it away, or make it anew from the files: `spade-envs rebuild`"


class Database:
    """The records of one registry.

    Nothing is kept open between transactions, so that it may be used in threads and after a fork.

    Args:
        path: the file; None for one in memory.
        read_only: whether it is only read.
    """

    def __init__(self, path: Path | None, read_only: bool = False) -> None:
        self.path, self.read_only = path, read_only
        self._engine = _engine(path, read_only)

    @classmethod
    def open(cls, path: Path, fill: Fill, read_only: bool = False) -> Database:
        """Open a database; where there is none it is made, whole or not at all.

        Args:
            path: its place.
            fill: writes what the registry's files say into a new one.
            read_only: then it has to exist and to be up to date.

        Raises:
            RegistryError: it is no database, of a newer schema, or cannot be read or written.
        """
        if not path.exists() and not read_only:
            _make(path, fill)
        database = cls(path, read_only)
        found = database._schema()
        if found != SCHEMA:
            database._migrate(found)
        return database

    @classmethod
    def in_memory(cls, fill: Fill) -> Database:
        """Return a database that ends with this process."""
        database = cls(None)
        with database.writing() as connection:
            build(connection)
            fill(connection)
        database.read_only = True
        return database

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        """Give a connection in whose block all is read as of one moment. Raises RegistryError."""
        with self._said(), self._engine.begin() as connection:
            yield connection

    @contextlib.contextmanager
    def writing(self) -> Iterator[Connection]:
        """Give a connection whose block is one transaction; no other process writes meanwhile.

        Raises:
            RegistryError: it is read-only, full, locked for long, or broken. Then nothing of it happened.
        """
        if self.read_only:
            raise RegistryError(
                f"{self} is read-only; name another registry with --registry or SPADE_REGISTRY"
            )
        options = self._engine.execution_options(begin="IMMEDIATE")
        with self._said(), options.begin() as connection:
            yield connection

    def __str__(self) -> str:
        return printable(str(self.path)) if self.path else "the records of a registry without a database"

    def _schema(self) -> str | None:
        try:
            assert self.path
            return schema_of(self.path)
        except sqlite3.Error as error:
            raise RegistryError(self._why(error)) from None

    def _migrate(self, found: str | None) -> None:
        if found is None:
            raise RegistryError(f"{self} is no database of records; {_REBUILD}")
        if found not in known_schemas():
            raise RegistryError(
                f"{self} is of schema {printable(found)}, this spade-envs knows up to {SCHEMA}: install a newer one "
                "(pip install --upgrade spade-envs). Environments can be made nevertheless"
            )
        with self.writing() as connection:  # raises where it is read-only
            migrate(connection)

    @contextlib.contextmanager
    def _said(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            raise RegistryError(self._why(error.orig or error)) from error

    def _why(self, error: BaseException) -> str:
        text = str(error)
        for sign, means in _MEANINGS.items():
            if sign in text:
                return f"{self} {means}"
        return f"{self} cannot be used ({printable(text)}); {_REBUILD}"


_MEANINGS = {
    "not a database": f"is no database, or was changed by hand; {_REBUILD}",
    "malformed": f"is damaged; {_REBUILD}",
    "readonly": "is read-only; give leave to write, or name another registry",
    "is locked": f"is in use by another process for more than {WAIT_S:.0f} s; try again when that has ended",
    "is full": "cannot grow, the disk is full; make room and try again. Nothing of this was written",
    "disk I/O": "cannot be read or written, the disk says; look whether it is full or failing",
    "unable to open": "cannot be opened; give leave to read it, or name another registry",
}


def _engine(path: Path | None, read_only: bool) -> Engine:
    if path is None:
        engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
    else:
        address = f"{path.absolute().as_uri()}?mode={'ro' if read_only else 'rw'}"
        engine = create_engine(
            "sqlite://",
            creator=lambda: sqlite3.connect(address, uri=True, timeout=WAIT_S),
            poolclass=NullPool,
        )
    event.listen(engine, "connect", _connected)
    event.listen(engine, "begin", _begun)
    return engine


def _connected(connection: sqlite3.Connection, _: object) -> None:
    connection.isolation_level = None  # transactions begin where _begun says so
    connection.execute(
        "PRAGMA journal_mode = DELETE"
    )  # a single file, whole after a crash, readable read-only


def _begun(connection: Connection) -> None:
    connection.exec_driver_sql(f"BEGIN {connection.get_execution_options().get('begin', '')}")


def _make(path: Path, fill: Fill) -> None:
    """Make a database beside its place, then link it there; another process's that came first stays."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".new-", dir=path.parent) as folder:
            new = Path(folder) / path.name
            new.touch()
            _filled(new, fill)
            with contextlib.suppress(FileExistsError):
                os.link(new, path)
    except OSError as error:
        raise RegistryError(f"cannot write {printable(str(path))}: {error.strerror or error}") from error


def _filled(path: Path, fill: Fill) -> None:
    database = Database(path)
    with database.writing() as connection:
        connection.exec_driver_sql("PRAGMA temp_store = MEMORY")
        build(connection)
        fill(connection)
