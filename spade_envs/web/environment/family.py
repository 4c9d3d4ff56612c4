"""From which environment one was made, and what was made from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from spade_envs.registry.lineage import Lineage, Member, lineage
from spade_envs.registry.stack import Stack
from spade_envs.web.environment.kin import picture
from spade_envs.web.environment.subject import Head, Subject

DEPTH, ABOVE, BESIDE = 4, 20, 40
"""How many generations below and above are shown, and how many children of one."""


@dataclass(frozen=True, slots=True)
class Family:
    """The page."""

    head: Head
    lineage: Lineage

    @property
    def above(self) -> tuple[Member, ...]:
        """The ancestors that are shown, the first one first."""
        return self.lineage.ancestors[-ABOVE:]

    @property
    def unseen(self) -> int:
        """How many more there are."""
        return len(self.lineage.ancestors) - len(self.above)

    @property
    def graph(self) -> Markup:
        """The nearest of the family as a picture, whose words :func:`spade_envs.charts.graph` writes as text."""
        return Markup(picture(self.lineage))

    @property
    def joined(self) -> dict[str, list[Member]]:
        """Id -> what it was made from beside the parent that it hangs below."""
        found: dict[str, list[Member]] = {}
        for one, parent in self.lineage.joins:
            found.setdefault(one, []).append(parent)
        return found

    def as_dict(self) -> dict[str, Any]:
        """Return the page as JSON-ready data, as ``spade-envs lineage`` prints it."""
        return self.lineage.as_dict()


def family(one: Subject, stack: Stack) -> Family:
    """Return the page. Raises RegistryError where records break while they are read."""
    return Family(one.head, lineage(one.id, stack, depth=DEPTH))
