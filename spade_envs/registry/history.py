"""What happened to one environment, in the order of time, whichever registry has it on record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from spade_envs.records import Choice, Measured, StatusChange, reading
from spade_envs.registry.overview import opened
from spade_envs.registry.stack import Stack


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened.

    Attributes:
        kind: what it was; within a second an environment is chosen, then measured, then changes its status.
        what: what is on record of it.
    """

    kind: Literal["choice", "measurement", "status"]
    what: Choice | Measured | StatusChange

    def as_dict(self) -> dict[str, Any]:
        """Return the event as JSON-ready data."""
        return {"kind": self.kind, **self.what.as_dict()}


def history(env_id: str, stack: Stack | None = None) -> list[Event]:
    """Return all that is on record of a version, the oldest first; what several registries know once.

    Raises:
        RegistryError: records break while they are read.
    """
    events: list[Event] = []
    with opened(stack) as shelves:
        for _, connection in shelves:
            events += [Event("choice", one) for one in reading.choices(connection, env_id)]
            events += [Event("measurement", one) for one in reading.measurements(connection, env_id)]
            events += [Event("status", one) for one in reading.statuses(connection, env_id)]
    order = {"choice": 0, "measurement": 1, "status": 2}
    return sorted(dict.fromkeys(events), key=lambda event: (event.what.at, order[event.kind]))
