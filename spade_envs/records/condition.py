"""How a file of records is, found out without changing it."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Literal

from spade_envs.contract.printable import printable
from spade_envs.errors import RegistryError
from spade_envs.records.schema import DAMAGED, connect, known_schemas, schema_of
from spade_envs.records.tables import SCHEMA

Condition = Literal["missing", "sound", "newer", "broken"]
_ELSEWHERE = ("BUSY", "LOCKED", "FULL", "READONLY", "IOERR", "CANTOPEN", "PERM", "NOMEM", "INTERRUPT")
"""SQLite's names of what is wrong around a file, not with it."""


def condition(path: Path) -> Condition:
    """Look whether a file is missing, sound, of a schema that only a newer version knows, or broken.

    Raises:
        RegistryError: it cannot be read.
    """
    if not path.exists():
        return "missing"
    try:
        found = schema_of(path)
        if found is None:
            return "broken"
        if found != SCHEMA and found not in known_schemas():
            return "newer"
        with contextlib.closing(connect(path, read_only=True)) as connection:
            (said,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except DAMAGED as error:
        if not is_damage(error):
            raise RegistryError(
                f"{printable(str(path))} cannot be read ({error}); give leave to read it, or try again later"
            ) from None
        return "broken"
    return "sound" if said == "ok" else "broken"


def is_damage(error: BaseException | None) -> bool:
    """Say whether SQLite complains of the file itself, and not of the disk, of rights, or of another process."""
    name = getattr(error, "sqlite_errorname", "")
    return isinstance(error, DAMAGED) and not name.startswith(tuple(f"SQLITE_{w}" for w in _ELSEWHERE))
