"""Versions as a page of many shows them: one statement for all that is told of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

LATELY = 24
"""How many measurements of each version are told."""
_REALS = ("difficulty", "success", "regret", "regret_low", "regret_high")
_COLUMNS = (
    "id", "title", "summary", "domain", "status", "origin", "max_episode_steps", "tools", "run", "round",
    "admitted_at", *_REALS,
)  # fmt: skip
_TOLD = [
    f"CASE WHEN {name} IS NULL THEN NULL ELSE printf('%!.17g', {name}) END" if name in _REALS else name
    for name in _COLUMNS
]
"""Numbers in JSON as SQLite writes them of its own accord have lost their last digits; as text they keep them."""
_STATEMENT = f"""
SELECT json_group_array(json_array(key, {", ".join(_TOLD)},
  json((SELECT json_group_array(skill) FROM skills WHERE skills.key = versions.key)),
  json((SELECT json_group_array(json_array(success, regret)) FROM
    (SELECT success, regret FROM measurements WHERE id = versions.id ORDER BY key DESC LIMIT {LATELY})))))
FROM versions WHERE key IN (SELECT value FROM json_each(?))
"""
"""One value for all: for each row that SQLite hands over, Python's threads would change places."""

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

    @property
    def successes(self) -> tuple[float | None, ...]:
        """Success of the last measurements, the oldest first."""
        return tuple(success for success, _ in self.lately)

    @property
    def regrets(self) -> tuple[float | None, ...]:
        """Regret of the last measurements, the oldest first."""
        return tuple(regret for _, regret in self.lately)


def briefly(connection: Connection, keys: Iterable[int]) -> dict[int, Brief]:
    """Return the versions with these keys, as far as there are any."""
    (told,) = connection.exec_driver_sql(_STATEMENT, (json.dumps(list(keys)),)).one()
    return {key: _brief(row) for key, *row in json.loads(told)}


def _brief(row: Sequence[Any]) -> Brief:
    *columns, skills, lately = row
    values = dict(zip(_COLUMNS, columns, strict=True))
    reals = {name: None if values[name] is None else float(values[name]) for name in _REALS}
    return Brief(**values | reals, skills=tuple(skills), lately=tuple(map(tuple, reversed(lately))))


def lately(connection: Connection, env_id: str) -> tuple[tuple[float | None, float | None], ...]:
    """Return success and regret of the last measurements of one version, the oldest first."""
    rows = connection.exec_driver_sql(_LATELY_OF_ONE, (env_id,)).fetchall()
    return tuple((row[0], row[1]) for row in reversed(rows))
