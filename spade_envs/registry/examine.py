"""What can be found wrong with a registry by looking at it, and what to do about it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from spade_envs.contract.ids import EnvId
from spade_envs.errors import RegistryError
from spade_envs.records import Database, reading
from spade_envs.records.condition import Condition, condition
from spade_envs.registry.files import try_to_write
from spade_envs.registry.recording import RECORDS_FILE
from spade_envs.registry.stack import Stack, registries
from spade_envs.registry.store import Registry
from spade_envs.registry.versions import is_name, numbers

LEAST_FREE = 256 * 2**20
"""So many bytes of free disk space are enough for a while."""

_NEWER = "are of a newer schema: install a newer spade-envs (pip install --upgrade spade-envs)"


@dataclass(frozen=True, slots=True)
class Examined:
    """How one registry is.

    Attributes:
        writable: None where it is not meant to be written.
        files, recorded: how many versions lie there, and how many are on record; None where there are no records.
        records: how the file of records is.
        free: bytes of free disk space; None where that cannot be told.
        problems: what is wrong, each with its mend; empty where all is well.
    """

    registry: str
    writable: bool | None
    files: int
    recorded: int | None
    records: Condition | None
    free: int | None
    problems: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {**asdict(self), "problems": list(self.problems)}


def examine(stack: Stack | None = None) -> list[Examined]:
    """Look at registries, those in force if none are given. Nothing is changed."""
    return [_examined(registry) for registry in (registries() if stack is None else stack)]


def _examined(registry: Registry) -> Examined:
    problems: list[str] = []
    if registry.root.exists() and not registry.root.is_dir():
        return Examined(
            str(registry), False, 0, None, None, None, (f"{registry} is no folder; move it away",)
        )
    writable = None if registry.read_only else _writable(registry.root, problems)
    free = _free(registry.root)
    if writable and free is not None and free < LEAST_FREE:
        problems.append(
            f"{free // 2**20:,} MiB of disk are free; make room, else nothing more can be admitted"
        )
    there = _there(registry.root)
    records, recorded = _records(registry.root / RECORDS_FILE, problems)
    if recorded is not None:
        problems += _differences(registry, there, recorded)
    if records in ("broken", "newer"):
        rebuild = f"are damaged: `{_rebuild(registry)}`"
        problems.append(f"the records {rebuild if records == 'broken' else _NEWER}")
    count = None if recorded is None else len(recorded)
    return Examined(str(registry), writable, len(there), count, records, free, tuple(problems))


def _writable(root: Path, problems: list[str]) -> bool:
    try:
        try_to_write(root)
    except OSError as error:
        problems.append(
            f"it cannot be written ({error.strerror}): give leave or make room, or set SPADE_REGISTRY"
        )
        return False
    return True


def _free(root: Path) -> int | None:
    while not root.exists():
        root = root.parent
    try:
        return shutil.disk_usage(root).free
    except OSError:
        return None


def _there(root: Path) -> set[str]:
    """Return the versions that have both files; none of them is opened."""
    folders = [path for path in root.glob("*") if is_name(path.name)]
    found = ((folder, v) for folder in folders for v in numbers(folder))
    return {
        str(EnvId(folder.name, v))
        for folder, v in found
        if (folder / f"v{v}.py").exists() and (folder / f"v{v}.json").exists()
    }


def _differences(registry: Registry, there: set[str], recorded: set[str]) -> Iterator[str]:
    """Say in which versions files and records differ. What cannot be read is not on record, and rightly so."""
    new = [one for one in there - recorded if isinstance(i := EnvId.parse(one), EnvId) and registry.holds(i)]
    if new:
        yield f"{len(new):,} versions are not on record, for example {min(new)}: `{_rebuild(registry)}`"
    if gone := recorded - there:
        yield (
            f"{len(gone):,} versions on record have no files, for example {min(gone)}: "
            f"restore them, or `{_rebuild(registry)}`"
        )


def _records(path: Path, problems: list[str]) -> tuple[Condition | None, set[str] | None]:
    try:
        found = condition(path)
        if found != "sound":
            return found, None
        database = Database.open(path, lambda _: None, read_only=True)
        with database.reading() as connection:
            return found, set(reading.held(connection))
    except RegistryError as error:
        problems.append(str(error))
        return None, None


def _rebuild(registry: Registry) -> str:
    return f"spade-envs rebuild --registry {registry}"
