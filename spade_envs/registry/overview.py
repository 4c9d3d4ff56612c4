"""All registries as one: a question is put to the whole stack, and answered as if it were one registry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spade_envs.records import Listed, Query, stacking
from spade_envs.registry.stack import registries
from spade_envs.registry.store import Registry


@dataclass(frozen=True, slots=True)
class Found:
    """One version, and the registry that holds it."""

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


def ask(query: Query, stack: Sequence[Registry] | None = None) -> Page:
    """Put a question to registries, those in force if none are given; of two the later one lies above the other.

    Where a version is on record in several, what the topmost says counts, be it that another one holds the version.

    Raises:
        RegistryError: records break while they are read.
    """
    stack = registries() if stack is None else stack
    with opened(stack) as connections:
        rows, total = stacking.page(connections, query)
        ids = [row.id for row in rows]
        holders = {
            env_id: registry
            for registry, connection in zip(stack, connections, strict=True)
            for env_id in stacking.held_in(connection, ids)
        }
    return Page(tuple(Found(row, holders[row.id]) for row in rows), total)


@contextmanager
def opened(stack: Sequence[Registry]) -> Iterator[list[Any]]:
    """Give a connection to the records of each registry."""
    with ExitStack() as held:
        yield [held.enter_context(registry.records.reading()) for registry in stack]
