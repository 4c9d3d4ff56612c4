"""Words, searched for in all versions at once: who holds them, and whom they fit best."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, func, select

from spade_envs.records.query import WEIGHTS, holds
from spade_envs.records.tables import TEXT

_WORD = re.compile(r"\w+")
_LOOKED_AT = tuple(WEIGHTS)[:-1]
_TOLD = f"SELECT rowid, {', '.join(_LOOKED_AT)} FROM texts WHERE rowid IN (SELECT value FROM json_each(?))"


def holding(connection: Connection, words: str) -> list[int]:
    """Return the keys of the versions that hold all words, as one value: see :mod:`spade_envs.records.columns`."""
    statement = select(func.json_group_array(TEXT.c.rowid)).where(holds(words))
    found: list[int] = json.loads(connection.execute(statement).scalar_one())
    return found


def fitting(connection: Connection, keys: Iterable[int], words: str) -> dict[int, int]:
    """Return how well words fit versions that hold them: of each word the weight of the weightiest place it stands in.

    Other than the rank of :class:`spade_envs.records.Query`, it reads only these versions, whatever the others hold.
    """
    asked = _WORD.findall(words.casefold())
    rows = connection.exec_driver_sql(_TOLD, (json.dumps(list(keys)),)).fetchall()
    return {row[0]: _fit(asked, row[1:]) for row in rows}


def _fit(asked: list[str], texts: Sequence[str]) -> int:
    weights = list(WEIGHTS.values())
    places = [f" {' '.join(_WORD.findall((text or '').casefold()))}" for text in texts]
    where = (next((k for k, text in enumerate(places) if f" {word}" in text), -1) for word in asked)
    return sum(weights[place] for place in where)
