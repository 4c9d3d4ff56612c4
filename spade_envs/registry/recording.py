"""The records of one registry: found, made from its files where there are none, and told of every new version."""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import warnings
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from spade_envs.contract.findings import Finding
from spade_envs.contract.ids import EnvId
from spade_envs.errors import RegistryError
from spade_envs.registry.files import LOCK_FILE
from spade_envs.registry.versions import REFUSED_FOLDER, RegistryWarning

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from spade_envs.records import Database
    from spade_envs.registry.store import Registry

RECORDS_FILE = "records.db"
_MANY = 500
"""Names from which on making records takes seconds, which is said."""
_LOG = logging.getLogger(__name__)


class Recorder:
    """Keeps a registry's records in step with its files.

    The database is loaded when it is first needed: making environments needs none.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._path = registry.root / RECORDS_FILE
        self._open: Database | None = None
        self._stamp: tuple[int, ...] | None = None

    def to_read(self) -> Database:
        """Return the records; where they cannot be used, what the files say, with a warning."""
        from spade_envs.records import Database

        if not self._begun():
            return Database.in_memory(self._fill)  # another process may begin at any moment
        if self._open is None or self._outdated(self._open):
            self._stamp = _stamp(self._path)
            self._open = self._usable() or Database.in_memory(self._fill)
        return self._open

    def to_write(self) -> Database:
        """Return the records. Raises RegistryError where they cannot be used."""
        from spade_envs.records import Database

        if self._open is None or self._open.read_only or not self._path.exists():
            self._open = Database.open(self._path, self._fill)
            self._catch_up(self._open)
        return self._open

    def by_code(self, code: str) -> EnvId | None:
        """Return the first version with this code whose files are still there."""
        from spade_envs.records import reading

        with self.to_read().reading() as connection:
            ids = [EnvId.parse(text) for text in reading.by_code(connection, code)]
        return next((i for i in ids if not isinstance(i, Finding) and self._registry.holds(i)), None)

    @contextlib.contextmanager
    def announced(self, name: str) -> Iterator[None]:
        """Have what the block writes put on record, in any case: if not now, when the registry is next opened.

        Raises:
            RegistryError: the records cannot be written. Then the block does not begin.
        """
        from spade_envs.records import filing

        records = self.to_write()
        with records.writing() as connection:
            filing.announce(connection, name)
        yield
        try:
            with records.writing() as connection:
                self._enter_all(connection, [name])
        except RegistryError as error:
            said = f"the new version of {name} stands, but is not on record yet: {error}"
            warnings.warn(said, RegistryWarning, stacklevel=4)

    def _begun(self) -> bool:
        """Say whether anything lies there of which records are kept: not every folder looked into gets a file."""
        if self._path.exists() or self._registry.read_only:
            return True
        return (self._registry.root / REFUSED_FOLDER).is_dir() or bool(self._registry.names())

    def _outdated(self, found: Database) -> bool:
        """Say whether the file is not what it was: what could not be used may be now, and what is gone is made anew."""
        return not self._path.exists() if found.path else self._stamp != _stamp(self._path)

    def _usable(self) -> Database | None:
        from spade_envs.records import Database

        can_write = not self._registry.read_only and os.access(self._registry.root, os.W_OK)
        if not can_write and not self._path.exists():
            return None
        try:
            database = Database.open(self._path, self._fill, read_only=not can_write)
            if can_write:
                self._catch_up(database)
        except RegistryError as error:
            warnings.warn(f"{error}. Until then only files are read", RegistryWarning, stacklevel=5)
            return None
        return database

    def _catch_up(self, database: Database) -> None:
        """Put on record what a process that ended too early has written, unless it is at it still."""
        from spade_envs.records import filing

        with database.reading() as connection:
            names = filing.announced(connection)
        if names and _free(self._path.with_name(LOCK_FILE)):
            with database.writing() as connection:
                self._enter_all(connection, names)

    def _enter_all(self, connection: Connection, names: Collection[str]) -> None:
        from spade_envs.records import filing, reading

        known = reading.versions_of(connection, names)
        new = self._registry.entries_but({n: known.get(n, []) for n in names})
        filing.enter_all(connection, ((entry.header, entry.report) for entry in new))
        filing.settle(connection, names)

    def _fill(self, connection: Connection) -> None:
        """Write what all files say: the versions, and what was refused."""
        from spade_envs.records import filing
        from spade_envs.registry.refused import refused_designs

        if len(names := self._registry.names()) > _MANY:
            _LOG.warning(
                "making the records of %s from its files (%d names); once", self._registry, len(names)
            )
        filing.enter_all(connection, ((e.header, e.report) for e in self._registry.entries()))
        for refused in refused_designs(self._registry.root):
            filing.enter_refusal(connection, refused.as_refusal())


def _stamp(path: Path) -> tuple[int, ...] | None:
    with contextlib.suppress(OSError):
        status = path.stat()
        return status.st_ino, status.st_size, status.st_mtime_ns
    return None


def _free(lock: Path) -> bool:
    """Say whether no living process holds a lock; a writer holds it as long as something of its is announced."""
    with contextlib.suppress(OSError), open(lock, "rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True
