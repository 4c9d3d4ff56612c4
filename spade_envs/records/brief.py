"""Versions as a page of many shows them: one statement for all that is told of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

LATELY = 24
"""How many measurements of each version are told."""
_COLUMNS = (
    "id", "title", "summary", "domain", "status", "origin", "max_episode_steps", "tools", "run", "round",
    "admitted_at", "difficulty", "success", "regret", "regret_low", "regret_high",
)  # fmt: skip
_STATEMENT = f"""
SELECT key, {", ".join(_COLUMNS)},
  (SELECT json_group_array(skill) FROM skills WHERE skills.key = versions.key),
  (SELECT json_group_array(json_array(success, regret)) FROM
    (SELECT success, regret FROM measurements WHERE id = versions.id ORDER BY key DESC LIMIT {LATELY}))
FROM versions WHERE key IN (SELECT value FROM json_each(?))
"""

_LATELY_OF_ONE = f"SELECT success, regret FROM measurements WHERE id = ? ORDER BY key DESC LIMIT {LATELY}"


@dataclass(frozen=True, slots=True)
class Brief:
    """One version.

    Attributes:
        success, regret, regret_low, regret_high: the newest measurement; None where there is none.
        skills: in no order.
        lately: success and regret of the last measurements, the oldest first.
    """

    id: str
    title: str
    summary: str
    domain: str
    status: str
    origin: str
    max_episode_steps: int
    tools: int | None
    run: str | None
    round: int | None
    admitted_at: str | None
    difficulty: float | None
    success: float | None
    regret: float | None
    regret_low: float | None
    regret_high: float | None
    skills: tuple[str, ...]
    lately: tuple[tuple[float | None, float | None], ...]


def briefly(connection: Connection, keys: Iterable[int]) -> dict[int, Brief]:
    """Return the versions with these keys, as far as there are any."""
    rows = connection.exec_driver_sql(_STATEMENT, (json.dumps(list(keys)),)).fetchall()
    return {row[0]: _brief(row) for row in rows}


def _brief(row: Sequence[Any]) -> Brief:
    values = dict(zip(_COLUMNS, row[1:], strict=False))
    return Brief(**values, skills=tuple(json.loads(row[-2])), lately=_pairs(row[-1]))


def lately(connection: Connection, env_id: str) -> tuple[tuple[float | None, float | None], ...]:
    """Return success and regret of the last measurements of one version, the oldest first."""
    rows = connection.exec_driver_sql(_LATELY_OF_ONE, (env_id,)).fetchall()
    return tuple((row[0], row[1]) for row in reversed(rows))


def _pairs(text: str) -> tuple[tuple[float | None, float | None], ...]:
    return tuple((success, regret) for success, regret in reversed(json.loads(text)))
