"""Who designs and who learns in which round: pure, and known before the run begins.

A batch has the same number of rows in every round, whatever the schedule: TRL splits it into micro-batches
once and for all. Where the designer does not learn, an agent block takes its place.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

Kind = Literal["joint", "alternate", "designer_frozen", "agent_frozen"]


@dataclass(frozen=True, slots=True)
class RoundPlan:
    """What one round does.

    Attributes:
        designs: how many designs are sampled.
        designer_learns: whether they are a block of the batch.
        blocks: how many agent blocks the designs' environments (or those in their place) have.
        fillers: how many agent blocks of the curriculum stand beside them.
        agent_learns: whether the agent's blocks are rows of the batch.
    """

    designs: int
    designer_learns: bool
    blocks: int
    fillers: int
    agent_learns: bool = True

    def with_designs(self, count: int) -> RoundPlan:
        """Return the plan where so many of the designs are there: fillers stand for the others' blocks."""
        if count == self.designs:
            return self
        blocks = self.blocks // self.designs * count
        return replace(self, designs=count, blocks=blocks, fillers=self.fillers + self.blocks - blocks)


@dataclass(frozen=True, slots=True)
class Schedule:
    """The plan of every round.

    Attributes:
        kind: both roles learn in each round; the designer in every ``every``-th alone; one of them never.
        group: G, the rows of a block, and the designs of a round.
        seeds: from how many seeds each design is played, each a block.
        every: of ``alternate``: a round without its turn makes no designs and plays the curriculum.
        designs: False where environments are fixed: no round designs.
    """

    kind: Kind
    group: int
    seeds: int = 1
    every: int = 4
    designs: bool = True

    def plan(self, number: int) -> RoundPlan:
        """Return what round ``number``, counted from 0, does."""
        played = self.group * self.seeds
        if not self.designs or (self.kind == "alternate" and number % self.every):
            return RoundPlan(0, False, 0, played + 1)
        if self.kind == "agent_frozen":
            return RoundPlan(self.group, True, played, 0, agent_learns=False)
        learns = self.kind != "designer_frozen"
        return RoundPlan(self.group, learns, played, 0 if learns else 1)

    @property
    def blocks(self) -> int:
        """How many blocks a batch has: the same in every round."""
        return 1 if self.kind == "agent_frozen" else 1 + self.group * self.seeds

    @property
    def rows(self) -> int:
        """How many rows a batch has."""
        return self.blocks * self.group
