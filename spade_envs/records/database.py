"""The database file: opened, brought up to date, and used in transactions that either happen or do not."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path

from sqlalchemy import Connection, Engine, QueuePool, StaticPool, create_engine, event
from sqlalchemy.exc import DBAPIError

from spade_envs.contract.printable import printable
from spade_envs.errors import RegistryError
from spade_envs.records.schema import DAMAGED, WAIT_S, build, connect, known_schemas, migrate, schema_of
from spade_envs.records.tables import SCHEMA

Fill = Callable[[Connection], None]
_REBUILD = "move it away, or make it anew from the files: `spade-envs rebuild`"


class Database:
    """The records of one registry.

    Threads may share it (one in memory has one connection, for which they wait), and a forked process may go on with
    it. Where its file is replaced by another, the next transaction is on the new one.

    Args:
        path: the file; None for one in memory.
        read_only: whether it is only read.
    """

    def __init__(self, path: Path | None, read_only: bool = False) -> None:
        self.path, self.read_only = path.absolute() if path else None, read_only
        self._engine = _engine(self.path, read_only)
        self._one_at_a_time = contextlib.nullcontext() if path else threading.RLock()
        self._file = self._identity()
        _LIVING.add(self)

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
        self._follow()
        with self._one_at_a_time, self._said(), self._engine.begin() as connection:
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
        with self._said(), self._immediate() as connection:
            yield connection

    @property
    def state(self) -> tuple[object, ...]:
        """What changes with whatever is written, by any process, to the file or to what waits beside it."""
        if self.path is None:
            return (id(self),)  # it does not change any more
        return tuple(_stamp(path) for path in (self.path, self.path.with_name(f"{self.path.name}-wal")))

    def close(self) -> None:
        """Close the connections that wait for the next transaction; what they wrote comes into the one file."""
        self._engine.dispose()

    @contextlib.contextmanager
    def _immediate(self) -> Iterator[Connection]:
        """Give a connection that alone writes, to the file that has the name now: a rebuild may have come before."""
        engine = self._engine.execution_options(begin="IMMEDIATE")
        while True:
            self._follow()
            with engine.begin() as connection:
                if self._identity() == self._file:
                    yield connection
                    return

    def _follow(self) -> None:
        if (now := self._identity()) != self._file:
            self._engine.dispose()
            self._file = now

    def _identity(self) -> tuple[int, int] | None:
        with contextlib.suppress(OSError):
            if self.path:
                status = self.path.stat()
                return status.st_dev, status.st_ino
        return None

    def __str__(self) -> str:
        return printable(str(self.path)) if self.path else "the records of a registry without a database"

    def _schema(self) -> str | None:
        try:
            assert self.path
            return schema_of(self.path)
        except DAMAGED as error:
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
        except UnicodeDecodeError as error:
            raise RegistryError(f"{self} is damaged; {_REBUILD}") from error

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


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        status = path.stat()
    except OSError:
        return ()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _engine(path: Path | None, read_only: bool) -> Engine:
    if path is None:
        engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
    else:
        engine = create_engine("sqlite://", creator=lambda: connect(path, read_only), poolclass=QueuePool)
    event.listen(engine, "connect", _connected)
    event.listen(engine, "begin", _begun)
    return engine


def _connected(connection: sqlite3.Connection, _: object) -> None:
    connection.isolation_level = None  # transactions begin where _begun says so
    with contextlib.suppress(sqlite3.OperationalError):  # read-only
        connection.execute(
            "PRAGMA journal_mode = WAL"
        )  # one wait for the disk a transaction; readers never wait
        connection.execute("PRAGMA synchronous = FULL")


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


def put_in_place(new: Path, path: Path) -> None:
    """Replace a database that cannot be used by another, closed one. What an old one had not yet written into its file
    would be taken for the new one's, so it goes. Raises OSError.
    """
    for ending in ("-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
    os.replace(new, path)


def _filled(path: Path, fill: Fill) -> None:
    database = Database(path)
    with database.writing() as connection:
        build(connection)
        fill(connection)
    database.close()


def _start_anew() -> None:
    """A forked process leaves its parent's connections alone."""
    for database in _LIVING:
        database._engine.dispose(close=False)


_LIVING: weakref.WeakSet[Database] = weakref.WeakSet()
os.register_at_fork(after_in_child=_start_anew)
