"""What happened to one environment, in the order of time, whichever registry has it on record."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from sqlalchemy import Connection

from spade_envs.records import Choice, Measured, StatusChange, reading
from spade_envs.registry.overview import opened
from spade_envs.registry.stack import Stack

Kind = Literal["choice", "measurement", "status"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""Within a second an environment is chosen, then measured, then changes its status."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened.

    Attributes:
        kind: what it was.
        what: what is on record of it.
    """

    kind: Kind
    what: Choice | Measured | StatusChange

    def as_dict(self) -> dict[str, Any]:
        """Return the event as JSON-ready data."""
        return {"kind": self.kind, **self.what.as_dict()}


_READ: dict[Kind, Callable[[Connection, str], Sequence[Choice | Measured | StatusChange]]] = {
    "choice": reading.choices,
    "measurement": reading.measurements,
    "status": reading.statuses,
}


def history(env_id: str, stack: Stack | None = None, kinds: Collection[Kind] = KINDS) -> list[Event]:
    """Return all that is on record of a version, the oldest first; what several registries know once.

    Args:
        env_id: the version, as text.
        stack: the registries; those in force if none are given.
        kinds: what is wanted of it.

    Raises:
        RegistryError: records break while they are read.
    """
    events: list[Event] = []
    with opened(stack) as shelves:
        for _, connection in shelves:
            for kind in kinds:
                events += [Event(kind, what) for what in _READ[kind](connection, env_id)]
    return sorted(dict.fromkeys(events), key=lambda event: (event.what.at, KINDS.index(event.kind)))
