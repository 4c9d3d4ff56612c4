"""The environment that an address names, and what heads each of its pages."""

from __future__ import annotations

from dataclasses import dataclass

from spade_envs.contract.ids import NAMESPACE
from spade_envs.records import Listed, StatusChange, brief, reading
from spade_envs.registry.overview import opened
from spade_envs.registry.stack import Stack, find
from spade_envs.registry.store import Registry
from spade_envs.registry.versions import Entry, numbers


@dataclass(frozen=True, slots=True)
class Head:
    """What heads each page of an environment.

    Attributes:
        name: as addresses have it: the id without its namespace.
        status: None where nothing is on record.
        reason: why it stands there.
        newest: the number of the newest version of its name.
    """

    id: str
    name: str
    title: str
    summary: str
    version: int
    newest: int
    status: str | None
    since: str | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class Subject:
    """One version, from its files and from the records.

    Attributes:
        holder: the registry that holds it.
        listed: what is on record; None where nothing is.
        versions: the numbers of all versions of its name.
        changes: each change of its status, the oldest first.
        lately: success and regret of its last measurements, the oldest first.
    """

    entry: Entry
    holder: Registry
    listed: Listed | None
    versions: tuple[int, ...]
    changes: tuple[StatusChange, ...]
    lately: tuple[tuple[float | None, float | None], ...]

    @property
    def id(self) -> str:
        """The id, as text."""
        return str(self.entry.header.id)

    @property
    def head(self) -> Head:
        """What heads its pages."""
        header, listed = self.entry.header, self.listed
        return Head(
            id=self.id,
            name=self.id.removeprefix(f"{NAMESPACE}/"),
            title=header.title,
            summary=header.summary,
            version=header.id.version,
            newest=max(self.versions),
            status=listed.status if listed else None,
            since=listed.status_since if listed else None,
            reason=self.changes[-1].reason if self.changes else None,
        )


def subject(name: str, stack: Stack) -> Subject:
    """Return the version that an address names; without ``-vN`` the newest.

    Raises:
        UnknownEnvironment: no registry holds it.
        RegistryError: its files or the records are broken.
    """
    holder, env_id = find(f"{NAMESPACE}/{name}", stack)
    with opened(stack) as shelves:
        parts = [connection for _, connection in reversed(shelves)]
        rows = (reading.one(part, str(env_id)) for part in parts)
        listed = next((row for row in rows if row), None)
        changes = dict.fromkeys(
            change for part in parts[::-1] for change in reading.statuses(part, str(env_id))
        )
        lately = next((found for part in parts if (found := brief.lately(part, str(env_id)))), ())
    return Subject(
        entry=holder.entry(env_id),
        holder=holder,
        listed=listed,
        versions=tuple(sorted({number for one in stack for number in numbers(one.root / env_id.name)})),
        changes=tuple(sorted(changes, key=lambda change: change.at)),
        lately=lately,
    )
