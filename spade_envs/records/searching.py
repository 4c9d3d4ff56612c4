"""Words, searched for in all versions at once: who holds them, and whom they fit best."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, column, func, select, table

from spade_envs.records.query import WEIGHTS, each, holds
from spade_envs.records.tables import TEXT

_TEXTS = table("texts", column("rowid"), *(column(name) for name in WEIGHTS))
_WORD = re.compile(r"\w+")


def holding(connection: Connection, words: str) -> list[int]:
    """Return the keys of the versions that hold all words, as one value: see :mod:`spade_envs.records.columns`."""
    statement = select(func.json_group_array(TEXT.c.rowid)).where(holds(words))
    found: list[int] = json.loads(connection.execute(statement).scalar_one())
    return found


def fitting(connection: Connection, keys: Iterable[int], words: str) -> dict[int, int]:
    """Return how well words fit versions that hold them: of each word the weight of the weightiest place it stands in.

    Other than the rank of :class:`spade_envs.records.Query`, it reads only these versions, whatever the others hold.
    """
    texts = func.json_array(*_TEXTS.c)
    statement = select(func.json_group_array(texts)).where(_TEXTS.c.rowid.in_(each(keys)))
    asked = _WORD.findall(words.casefold())
    found: list[list[Any]] = json.loads(connection.execute(statement).scalar_one())
    return {row[0]: sum(_weight(word, row[1:]) for word in asked) for row in found}


def _weight(word: str, texts: list[str]) -> int:
    """Weights fall from the first text to the last."""
    for weight, text in zip(WEIGHTS.values(), texts, strict=True):
        if any(one.startswith(word) for one in _WORD.findall((text or "").casefold())):
            return weight
    return 0
