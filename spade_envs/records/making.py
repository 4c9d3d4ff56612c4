"""What versions were made from, as their making tells: a header names one parent, a joined design has more."""

from __future__ import annotations

import contextlib
import json
from typing import Any

from sqlalchemy import Connection, String, func, select, type_coerce

from spade_envs.contract.ids import EnvId
from spade_envs.records.tables import VERSIONS

_MOST = 8
"""The most environments that one is said to be made from."""


def joined(connection: Connection) -> dict[str, tuple[str, ...]]:
    """Return id -> parents, the header's first, for every version that was made from several.

    This reads the whole table: 40 ms of CPU where it has 100,000 rows.
    """
    columns = (VERSIONS.c.id, VERSIONS.c.parent, type_coerce(VERSIONS.c.provenance, String).label("made"))
    statement = select(*columns).where(func.instr(VERSIONS.c.provenance, '"parents"') > 0)
    found = {row.id: (row.parent, *_named(row.made)) for row in connection.execute(statement)}
    return {one: tuple(dict.fromkeys(filter(None, parents))) for one, parents in found.items()}


def _named(provenance: Any) -> list[str]:
    """Return the parents that a version's making names, as far as it can be read."""
    with contextlib.suppress(ValueError, TypeError, RecursionError):
        made = json.loads(provenance)
        named = made.get("parents") if isinstance(made, dict) else None
        if isinstance(named, list):
            known = (EnvId.parse(one) for one in named[:_MOST] if isinstance(one, str))
            return [str(one) for one in known if isinstance(one, EnvId)]
    return []
