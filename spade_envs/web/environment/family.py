"""From which environment one was made, and what was made from it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from spade_envs.registry.lineage import Lineage, Member, lineage
from spade_envs.registry.stack import Stack
from spade_envs.web.environment.kin import picture
from spade_envs.web.environment.subject import Head, Subject

DEPTH, ABOVE, BESIDE, LISTED = 4, 20, 40, 300
"""How many generations below and above are listed, how many children of one, and how many descendants in all."""


@dataclass(frozen=True, slots=True)
class Branch:
    """One environment in the list, with the children that are listed, the nearest to the one at hand first."""

    member: Member
    branches: list[Branch]

    @property
    def hidden(self) -> int:
        """How many more children there are."""
        return len(self.member.children) - len(self.branches)


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
    def alone(self) -> bool:
        """Whether nobody else is of the family."""
        member = self.lineage.member
        return not (self.lineage.ancestors or member.children or member.more or self.lineage.joins)

    @property
    def graph(self) -> Markup:
        """The nearest of the family as a picture, whose words :func:`spade_envs.charts.graph` writes as text."""
        return Markup(picture(self.lineage))

    @property
    def tree(self) -> Branch:
        """The environment with those of its descendants that are listed."""
        waiting, room = deque([root := Branch(self.lineage.member, [])]), LISTED
        while waiting and room:
            one = waiting.popleft()
            one.branches.extend(Branch(child, []) for child in one.member.children[: min(BESIDE, room)])
            room -= len(one.branches)
            waiting += one.branches
        return root

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
