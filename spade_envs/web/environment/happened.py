"""What happened to an environment, the newest first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spade_envs.records import Choice, Measured, StatusChange
from spade_envs.registry.history import Event, history
from spade_envs.registry.stack import Stack
from spade_envs.web.environment.subject import Head, Subject
from spade_envs.web.words import plural, rate

SHOWN = 300
"""How many events the page has; its JSON has all."""


@dataclass(frozen=True, slots=True)
class Happened:
    """The page.

    Attributes:
        events: the newest first.
    """

    head: Head
    events: tuple[Event, ...]

    @property
    def shown(self) -> tuple[tuple[Event, str], ...]:
        """The last events, each with what it was in words."""
        return tuple((event, said(event)) for event in self.events[:SHOWN])

    def as_dict(self) -> dict[str, Any]:
        """Return the page as JSON-ready data."""
        return {"head": self.head, "events": [event.as_dict() for event in self.events]}


def happened(one: Subject, stack: Stack) -> Happened:
    """Return the page. Raises RegistryError where records break while they are read."""
    return Happened(one.head, tuple(history(one.id, stack)[::-1]))


def said(event: Event) -> str:
    """Return an event in words."""
    match event.what:
        case StatusChange() as change:
            return f"{change.status.replace('_', ' ')}: {change.reason}"
        case Choice() as choice:
            return f"chosen: {choice.reason}"
        case Measured() as one:
            faults = f", {plural(one.faults, 'fault')}" if one.faults else ""
            return (
                f"measured in {plural(one.plays, 'play')} and {one.hinted_plays:,} with the hint: success "
                f"{rate(one.success)}, {rate(one.hinted_success)} with the hint, regret {rate(one.regret)}{faults}"
            )
