"""All versions of a stack of registries as columns in memory: what is counted and narrowed by, without a database.

A question that is asked again and again of many versions, each time a little different, is answered out of these
within a millisecond or two; :mod:`spade_envs.records.query` answers the same question once, without reading them all.
"""

from __future__ import annotations

import json
from collections.abc import Hashable
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, case, func, select

from spade_envs.records.query import Query, Scope, matching
from spade_envs.records.stacking import Stack, scopes_of
from spade_envs.records.tables import SKILLS, VERSIONS

CODED = ("domain", "status", "origin", "run", "round", "name")
"""What is one of few words or numbers; None where a version has none."""
NUMBERS = ("difficulty", "regret", "success", "diversity", "max_episode_steps", "tools")
"""What is a number; NaN where a version has none."""


_REALS = ("difficulty", "regret", "success", "diversity")
_READ = ("key", "version", "admitted_at", *CODED, *NUMBERS)


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """A column of few different values.

    Attributes:
        values: each once, None among them where some version has none.
        codes: of each version the place of its value.
    """

    values: tuple[Any, ...]
    codes: NDArray[np.int32]

    def place(self, value: Hashable) -> int:
        """Return the place of a value, -1 where no version has it."""
        return self.values.index(value) if value in self.values else -1


@dataclass(frozen=True, slots=True, eq=False)
class Tagged:
    """Words of which a version may have several.

    Attributes:
        values: each once.
        places: of each pair of a version and one of its words the version's place, word by word.
        bounds: where each word's pairs begin; one more, where all end.
    """

    values: tuple[str, ...]
    places: NDArray[np.int64]
    bounds: NDArray[np.int64]

    def of(self, value: str) -> NDArray[np.int64]:
        """Return the places of the versions that have a word."""
        if value not in self.values:
            return self.places[:0]
        at = self.values.index(value)
        return self.places[self.bounds[at] : self.bounds[at + 1]]


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """Where the versions of one registry's records stand.

    Attributes:
        keys: theirs, growing.
        places: of each of these.
    """

    keys: NDArray[np.int64]
    places: NDArray[np.int64]

    def of(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the places of versions, without those that do not count."""
        near = np.searchsorted(self.keys, keys)
        near[near == len(self.keys)] = 0
        known = self.keys[near] == keys if len(self.keys) else np.zeros(len(keys), np.bool_)
        return np.asarray(self.places[near[known]])


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Versions, by name and number.

    Attributes:
        parts: of each version which registry's records it is from.
        keys: its key there.
        coded: by the names in ``CODED``.
        numbers: by the names in ``NUMBERS``.
        orders: the places of all, the largest first, those without a number last, else as they stand: by each real
            number, "newest" (by time of admission) and "round".
        index: of each registry where its versions stand.
    """

    parts: NDArray[np.int32]
    keys: NDArray[np.int64]
    coded: dict[str, Coded]
    numbers: dict[str, NDArray[np.float64]]
    orders: dict[str, NDArray[np.int64]]
    skills: Tagged
    index: tuple[Index, ...]

    def __len__(self) -> int:
        return len(self.keys)


def read(stack: Stack, *, all_versions: bool) -> Columns:
    """Return the versions that count in a stack of registries, the newest of each name or all."""
    query, parts, pairs = Query(all_versions=all_versions), [], []
    for connection, scope in zip(stack, scopes_of(stack, all_versions=all_versions), strict=True):
        parts.append(_columns(connection, query, scope))
        pairs.append(_skills(connection, query, scope))
    found = {name: list(chain.from_iterable(part[name] for part in parts)) for name in _READ}
    places = sorted(
        range(len(found["key"])), key=list(zip(found["name"], found["version"], strict=True)).__getitem__
    )
    order = np.array(places, np.int64)
    of_part = np.repeat(np.arange(len(parts), dtype=np.int32), [len(part["key"]) for part in parts])
    keys = np.array(found["key"], np.int64)
    index = tuple(_index(of_part[order], keys[order], part) for part in range(len(parts)))
    numbers = {name: np.array(found[name], np.float64)[order] for name in NUMBERS}
    by = {name: numbers[name] for name in _REALS}
    by |= {
        "newest": _ranks(found["admitted_at"])[order],
        "round": np.array(found["round"], np.float64)[order],
    }
    skilled = [one.of(np.array(of, np.int64)) for one, (of, _) in zip(index, pairs, strict=True)]
    return Columns(
        parts=of_part[order],
        keys=keys[order],
        coded={name: Coded(known, codes[order]) for name in CODED for known, codes in [_codes(found[name])]},
        numbers=numbers,
        orders={name: np.argsort(-of, kind="stable") for name, of in by.items()},
        skills=_tagged(list(chain.from_iterable(skills for _, skills in pairs)), np.concatenate(skilled)),
        index=index,
    )


def _columns(connection: Connection, query: Query, scope: Scope) -> dict[str, list[Any]]:
    """Each column as one value: for each row that SQLite hands over, Python's threads would change places."""
    columns = [_exactly(VERSIONS.c[name]) if name in _REALS else VERSIONS.c[name] for name in _READ]
    row = connection.execute(matching(query, scope, *map(func.json_group_array, columns))).one()
    return {name: json.loads(text) for name, text in zip(_READ, row, strict=True)}


def _skills(connection: Connection, query: Query, scope: Scope) -> tuple[list[int], list[str]]:
    """Return the versions' keys and skills, pair by pair."""
    wanted = matching(query, scope, VERSIONS.c.key)
    pairs = [func.json_group_array(column) for column in (SKILLS.c.key, SKILLS.c.skill)]
    keys, skills = connection.execute(select(*pairs).where(SKILLS.c.key.in_(wanted))).one()
    return json.loads(keys), json.loads(skills)


def _exactly(column: Any) -> Any:
    """A number in JSON as SQLite writes it of its own accord has lost its last digits."""
    return case((column.is_(None), None), else_=func.json(func.printf("%!.17g", column)))


def _codes(values: list[Any]) -> tuple[tuple[Any, ...], NDArray[np.int32]]:
    known = {value: place for place, value in enumerate(dict.fromkeys(values))}
    return tuple(known), np.fromiter(map(known.__getitem__, values), np.int32, len(values))


def _ranks(moments: list[str | None]) -> NDArray[np.float64]:
    known: dict[str | None, float] = {
        at: float(place) for place, at in enumerate(sorted({at for at in moments if at}))
    }
    return np.array([known.get(at, np.nan) for at in moments], np.float64)


def _tagged(words: list[str], places: NDArray[np.int64]) -> Tagged:
    known, codes = _codes(words)
    by_word = np.argsort(codes, kind="stable")
    return Tagged(known, places[by_word], np.searchsorted(codes[by_word], np.arange(len(known) + 1)))


def _index(parts: NDArray[np.int32], keys: NDArray[np.int64], part: int) -> Index:
    own = np.flatnonzero(parts == part)
    places = own[np.argsort(keys[own])]
    return Index(keys[places], places)
