"""Making a registry's records anew: what the files say from the files, the rest from the old records as far as it goes.

Records that are sound are made anew in one transaction, whoever reads or writes beside. Others are written beside the
old ones and then take their place.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from spade_envs.contract.header import Header
from spade_envs.contract.ids import EnvId
from spade_envs.contract.printable import printable
from spade_envs.errors import RegistryError, UsageError
from spade_envs.records import Database, changes, filing, reading, salvage, schema
from spade_envs.records.condition import Condition, condition, is_damage
from spade_envs.records.database import put_in_place
from spade_envs.records.salvage import Salvage
from spade_envs.records.tables import SCHEMA
from spade_envs.registry.recording import RECORDS_FILE
from spade_envs.registry.refused import refused_designs
from spade_envs.registry.status import borrow
from spade_envs.registry.store import Registry
from spade_envs.registry.versions import numbers

Progress = Callable[[], None]
"""Called when all versions of another name are read."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What a rebuild did.

    Attributes:
        versions: how many of this registry's own are on record now.
        found: how the old records were.
        entered: ids that are on record now and were not.
        gone: ids whose files are gone: what is on record of them is kept, in case they come back.
        unreadable: ids whose files are broken: what is on record of them is kept.
        salvaged: table -> how many rows came from the old records alone; ``others``: versions that have no file here.
        lost: table -> how many rows could not be read of them; None where that cannot be told. ``newer``: what only a
            newer schema has.
        old: where the old records lie now, if anything was lost.
    """

    versions: int
    found: Condition = "sound"
    entered: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()
    salvaged: dict[str, int] = field(default_factory=dict)
    lost: dict[str, int | None] = field(default_factory=dict)
    old: Path | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {**asdict(self), "old": str(self.old) if self.old else None}


def rebuild(registry: Registry, *, force: bool = False, progress: Progress = lambda: None) -> Rebuilt:
    """Make a registry's records anew. When it is stopped, the old ones stand.

    Args:
        registry: which one it is. Nobody admits anything into it meanwhile; processes that have a damaged file of
            records open must be started again afterwards.
        force: also from records of a newer schema, of which this version does not know everything.
        progress: called once for each name, when its versions are read.

    Raises:
        UsageError: there is no registry, or its records are of a newer schema and it is not forced.
        RegistryError: the folder cannot be written.
    """
    if not registry.root.is_dir():
        raise UsageError(f"there is no registry {registry}; the first `spade-envs admit` makes it")
    with registry.locked():
        try:
            return _Rebuilding(registry, progress).done(force)
        except OSError as error:
            raise RegistryError(f"cannot write into {registry}: {error.strerror or error}") from error


class _Rebuilding:
    """One rebuild, under the registry's lock."""

    def __init__(self, registry: Registry, progress: Progress) -> None:
        self._registry, self._progress = registry, progress
        self._path = registry.root / RECORDS_FILE
        folders = [registry.root / name for name in registry.names()]
        self._filed = {str(EnvId(f.name, v)): f / f"v{v}.py" for f in folders for v in numbers(f)}
        self._readable: set[str] = set()

    def done(self, force: bool) -> Rebuilt:
        """Do it, and say what was done."""
        found = condition(self._path)
        if found == "newer" and not force:
            raise UsageError(
                f"{printable(str(self._path))} is of a newer schema than {SCHEMA}, "
                "which this spade-envs knows: install a newer one (pip install --upgrade spade-envs), "
                "or give up with --force what only that one knows"
            )
        if found != "sound":
            return self._beside(found)
        try:
            return self._in_place()
        except RegistryError as error:
            if not is_damage(getattr(error.__cause__, "orig", error.__cause__)):
                raise
            return self._beside("broken")  # what no check had seen

    def _in_place(self) -> Rebuilt:
        writing = Database.open(self._path, lambda _: None).writing()
        with writing as connection, salvage.opened(self._path) as old, ExitStack() as undo:
            schema.clear(connection)
            done = self._written(connection, old)
            if done.lost:  # rows that have not the form of one: somebody wrote into the database
                done = replace(done, old=_copied_aside(old, self._path, undo))
            undo.pop_all()
        return done

    def _beside(self, found: Condition) -> Rebuilt:
        with tempfile.TemporaryDirectory(prefix=".new-", dir=self._registry.root) as folder:
            new = Path(folder) / RECORDS_FILE
            new.touch()
            database = Database(new)
            with ExitStack() as held:
                old = None if found == "missing" else held.enter_context(salvage.opened(self._path))
                connection = held.enter_context(database.writing())
                done = replace(self._written(connection, old), found=found)
            database.close()
            if found == "newer":
                done = replace(done, lost={**done.lost, "newer": None})
            with ExitStack() as undo:
                aside = _kept_aside(self._path, undo) if done.lost else None
                put_in_place(new, self._path)
                undo.pop_all()
        return replace(done, old=aside)

    def _written(self, connection: Connection, old: sqlite3.Connection | None) -> Rebuilt:
        """Write everything into an empty database."""
        schema.build(connection)
        filing.enter_all(connection, self._files())
        for refused in refused_designs(self._registry.root):
            filing.enter_refusal(connection, refused.as_refusal())
        known = salvage.read(old, self._readable) if old else Salvage()
        salvaged = salvage.restore(connection, known, self._filed)
        others = self._strangers(connection)
        broken = {one for one, path in self._filed.items() if one not in self._readable and path.exists()}
        return Rebuilt(
            versions=len(reading.held(connection)),
            entered=_sorted(self._readable - known.held),
            gone=_sorted(known.held - self._filed.keys()),
            unreadable=_sorted(broken),
            salvaged=salvaged,
            lost={**known.lost, "others": others} if others else known.lost,
        )

    def _files(self) -> Iterator[tuple[Header, dict[str, Any]]]:
        for name in self._registry.names():
            for entry in self._registry.entries_but({name: ()}):
                self._readable.add(str(entry.header.id))
                yield entry.header, entry.report
            self._progress()

    def _strangers(self, connection: Connection) -> int:
        """Look for versions of which something is on record but not they themselves; return how many no one holds."""
        strangers = reading.strangers(connection)
        found = [one for one in strangers if borrow(connection, self._registry, one)]
        changes.stand_as_recorded(connection, found)
        changes.show_newest(connection, found)
        return len(strangers) - len(found)


def _kept_aside(path: Path, undo: ExitStack) -> Path:
    """Give a file another name, too, with what SQLite had not yet written into it; return that name."""
    aside = _aside(path)
    for ending in ("", "-wal"):
        if (old := path.with_name(path.name + ending)).exists():
            os.link(old, new := aside.with_name(aside.name + ending))
            undo.callback(new.unlink)
    return aside


def _copied_aside(old: sqlite3.Connection, path: Path, undo: ExitStack) -> Path:
    """Copy a database that stays where it is; return the copy's name."""
    aside = _aside(path)
    undo.callback(aside.unlink, missing_ok=True)
    with closing(sqlite3.connect(aside)) as copy:
        old.backup(copy)
    return aside


def _aside(path: Path) -> Path:
    return path.with_name(f"{path.name}.broken-{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}")


def _sorted(ids: set[str] | frozenset[str]) -> tuple[str, ...]:
    def by_version(env_id: str) -> tuple[str, int]:
        name, _, version = env_id.rpartition("-v")
        return name, int(version)

    return tuple(sorted(ids, key=by_version))
