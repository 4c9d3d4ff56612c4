"""Words, searched for in all versions at once: who holds them, and whom they fit best."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, bindparam, func, select

from spade_envs.records.query import WEIGHTS, holds, terms
from spade_envs.records.tables import TEXT

_WORD = re.compile(r"\w+")
_LOOKED_AT = tuple(WEIGHTS)[:-1]
_HOLDING = select(func.json_group_array(TEXT.c.rowid)).where(holds(bindparam("terms")))
_TOLD = f"""
SELECT json_group_array(json_array(rowid, {", ".join(_LOOKED_AT)}))
FROM texts WHERE rowid IN (SELECT value FROM json_each(?))
"""


def holding(connection: Connection, words: str) -> list[int]:
    """Return the keys of the versions that hold all words, as one value: see :mod:`spade_envs.records.columns`."""
    found: list[int] = json.loads(connection.execute(_HOLDING, {"terms": terms(words)}).scalar_one())
    return found


def fitting(connection: Connection, keys: Iterable[int], words: str) -> dict[int, int]:
    """Return how well words fit versions that hold them: of each word the weight of the weightiest place it stands in.

    Other than the rank of :class:`spade_envs.records.Query`, it reads only these versions, whatever the others hold.
    """
    asked = _WORD.findall(words.casefold())
    (told,) = connection.exec_driver_sql(_TOLD, (json.dumps(list(keys)),)).one()
    return {key: _fit(asked, texts) for key, *texts in json.loads(told)}


def _fit(asked: list[str], texts: Sequence[str | None]) -> int:
    places = [(text or "").casefold() for text in texts]
    return sum(_weight(word, places) for word in asked)


def _weight(word: str, places: list[str]) -> int:
    for weight, text in zip(WEIGHTS.values(), places, strict=False):
        if _begins_in(text, word):
            return weight
    return WEIGHTS["rules"]


def _begins_in(text: str, word: str) -> bool:
    """Say whether one of a text's words begins so; a pattern would look at every letter of all that do not."""
    at = text.find(word)
    while at > 0 and (text[at - 1].isalnum() or text[at - 1] == "_"):
        at = text.find(word, at + 1)
    return at >= 0
