"""All registries as one: a question is put to the whole stack, and answered as if it were one registry."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from spade_envs.contract.ids import near_matches
from spade_envs.records import Listed, Query, reading, stacking
from spade_envs.registry.stack import Stack, registries
from spade_envs.registry.store import Registry


@dataclass(frozen=True, slots=True)
class Found:
    """One version.

    Attributes:
        listed: what is on record of it, in the topmost registry that knows it.
        holder: the topmost registry that holds it.
    """

    listed: Listed
    holder: Registry

    @property
    def path(self) -> Path:
        """Its source file."""
        return self.holder.root / self.listed.name / f"v{self.listed.version}.py"

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {**self.listed.as_dict(), "registry": str(self.holder.root), "path": str(self.path)}


@dataclass(frozen=True, slots=True)
class Page:
    """A part of an answer.

    Attributes:
        total: how many versions the whole answer has.
    """

    rows: tuple[Found, ...]
    total: int


def ask(query: Query, stack: Stack | None = None) -> Page:
    """Put a question to registries, those in force if none are given.

    Where a version is on record in several, what the topmost says counts, be it that another one holds the version.

    Raises:
        RegistryError: records break while they are read.
    """
    with opened(stack) as shelves:
        rows, total = stacking.page([connection for _, connection in shelves], query)
        holders = held_by(shelves, [row.id for row in rows])
    return Page(tuple(Found(row, holders[row.id]) for row in rows), total)


def known(env_id: str, stack: Stack | None = None) -> Found | None:
    """Return what is on record of one version, None where no registry holds it."""
    with opened(stack) as shelves:
        rows = [reading.one(connection, env_id) for _, connection in reversed(shelves)]
        holder = held_by(shelves, [env_id]).get(env_id)
    listed = next((row for row in rows if row is not None), None)
    return Found(listed, holder) if listed and holder else None


def near(query: Query, stack: Stack | None = None) -> dict[str, list[str]]:
    """Return for each word of a question that no registry knows what it may have meant, the nearest first.

    Asked of a skill, a run and a name; of words that are one of few, :class:`Query` itself says it.
    """
    kinds = {"skill": reading.skills, "run": reading.runs, "name": reading.names}
    found: dict[str, list[str]] = {}
    with opened(stack) as shelves:
        for what, words in kinds.items():
            asked = getattr(query, what)
            if asked is not None and asked not in (
                all_words := {w for _, one in shelves for w in words(one)}
            ):
                found[what] = near_matches(asked, all_words)
    return found


def held_by(shelves: Collection[tuple[Registry, Connection]], ids: Collection[str]) -> dict[str, Registry]:
    """Return the topmost registry that holds each of these versions, by what is on record."""
    return {env_id: registry for registry, one in shelves for env_id in stacking.held_in(one, ids)}


@contextmanager
def opened(stack: Stack | None = None) -> Iterator[list[tuple[Registry, Connection]]]:
    """Give the registries, those in force if none are given, each with its records open. Raises RegistryError."""
    with ExitStack() as held:
        yield [
            (one, held.enter_context(one.records.reading()))
            for one in (registries() if stack is None else stack)
        ]
