"""The instances of one worker among all of a vector's: which they are, and how they are asked."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from spade_envs.contract import Rejection
from spade_envs.errors import UsageError
from spade_envs.isolation import InstanceInfo, Limits, WorkerPool
from spade_envs.isolation.batch_host import BatchWorker
from spade_envs.isolation.batch_requests import Turn
from spade_envs.isolation.batch_results import Results
from spade_envs.isolation.columns import index_of

Positions = Sequence[int] | None
"""Instances of a vector by their numbers; all where None."""


@dataclass(frozen=True, slots=True)
class Member:
    """One instance of a vector: its design and the arguments of its constructor."""

    source: str
    arguments: dict[str, Any]


class Plan(NamedTuple):
    """What is asked of a vector's instances; rows of arrays are all instances.

    Attributes:
        actions: one for each instance, an array or a list; None where all are reset.
        resets: seeds of instances that are reset and take no step.
        options: for those resets.
        seeds: for each instance the seed of the episode that begins where this one ends; None to begin none.
        last: instances whose episode ends with this step whatever the design says.
        only: the instances that are asked.
        anew: those of the instances that are reset which are to be built anew.
    """

    actions: Any
    resets: dict[int, int]
    options: dict[str, Any] | None = None
    seeds: np.ndarray | None = None
    last: Collection[int] = ()
    only: Positions = None
    anew: Collection[int] = ()

    @property
    def is_plain(self) -> bool:
        """Whether all instances take steps, given as an array, and do nothing else."""
        actions, resets, _, _, last, only, _ = self
        return not resets and only is None and not last and type(actions) is np.ndarray


class Squad:
    """The instances of one worker, which is started anew where it was lost.

    Args:
        members: the instances, all of one design.
        positions: their numbers among the vector's, in order.
        alone: whether they are all of the vector's.
        pool: where workers come from.
        limits: those of the workers.
        watch: whether what the instances render is wanted with each step.

    Attributes:
        positions: as given.
        source: the design.
        asked: whom the worker was last asked about, in the order of rows.
    """

    def __init__(
        self,
        members: Sequence[Member],
        positions: Sequence[int],
        alone: bool,
        pool: WorkerPool,
        limits: Limits,
        watch: bool,
    ) -> None:
        first, count = positions[0], len(positions)
        following = range(first, first + count)
        self.positions: Sequence[int] = following if list(following) == list(positions) else list(positions)
        self.asked: Sequence[int] = self.positions
        self.source = members[0].source
        self._arguments = [member.arguments for member in members]
        self._pool, self._limits, self._watch, self._alone = pool, limits, watch, alone
        self._own = {position: row for row, position in enumerate(self.positions)}
        self._rows = index_of(self.positions)
        self._worker: BatchWorker | None = None

    @property
    def worker(self) -> BatchWorker:
        """The worker, which must have been started."""
        assert self._worker is not None
        return self._worker

    @property
    def alive(self) -> bool:
        """Whether the worker can be asked."""
        return self._worker is not None and self._worker.alive

    def start(self, built: bool) -> None:
        """Start a worker, which builds the instances now or as they are needed; :meth:`started` waits for it.

        Raises:
            UsageError: the source is refused.
            WorkerFault: the design is quarantined.
        """
        taken = self._pool.take(self.source)
        if isinstance(taken, Rejection):
            raise UsageError(f"the source is refused:\n{taken.text(source=self.source)}")
        self._worker = BatchWorker(taken, self._limits, self._arguments, self._watch)
        self.asked = self.positions
        self._worker.begin_building(built)

    def started(self, info: InstanceInfo | None) -> InstanceInfo:
        """Wait for the worker, and take the spaces that hold for all instances: those given, or its first's."""
        found = self.worker.built()
        agreed = info or found
        assert agreed is not None
        self.worker.agree(agreed)
        return found or agreed

    def close(self) -> None:
        """End the worker. Safe to call again."""
        if self._worker is not None:
            self._worker.close()

    def guilty(self) -> int | None:
        """Return the instance that the worker was at when it was lost; None where that is unknown."""
        row = self.worker.row_at_work()
        return None if row is None or row >= len(self.asked) else self.asked[row]

    def chosen(self, plan: Plan, without: Collection[int]) -> list[int] | None:
        """Return those of the instances that a plan asks; all where None."""
        if plan.only is None and not without:
            return None
        wanted = self._own if plan.only is None else plan.only
        return [position for position in wanted if position in self._own and position not in without]

    def turn(self, plan: Plan, chosen: Positions) -> tuple[Turn, bytes]:
        """Return what to ask the worker for chosen instances, and the message that does.

        Raises:
            UsageError: something in it cannot travel.
        """
        if chosen is None and plan.is_plain:
            own = plan.actions[self._rows], None if plan.seeds is None else plan.seeds[self._rows]
            turn = Turn(None, own[0], seeds=own[1])
        elif self._alone and chosen is None:
            turn = Turn(
                None, plan.actions, plan.resets, plan.options, list(plan.anew), plan.seeds, list(plan.last)
            )
        else:
            turn = self._translated(plan, self.positions if chosen is None else list(chosen), chosen is None)
        return turn, self.worker.message(turn)

    def _translated(self, plan: Plan, chosen: Sequence[int], every: bool) -> Turn:
        rows = self._rows if every else chosen
        array = isinstance(plan.actions, np.ndarray)
        actions: Any = None
        if plan.actions is not None:
            actions = plan.actions[rows] if array else [plan.actions[position] for position in chosen]
        resets, last = plan.resets, plan.last
        return Turn(
            None if every else [self._own[position] for position in chosen],
            actions,
            {row: resets[at] for row, at in enumerate(chosen) if at in resets} if resets else {},
            plan.options,
            [row for row, position in enumerate(chosen) if position in plan.anew] if plan.anew else [],
            None if plan.seeds is None else plan.seeds[rows],
            [row for row, position in enumerate(chosen) if position in last] if last else [],
        )

    def ask(self, turn: Turn, message: bytes, chosen: Positions) -> None:
        """Ask the worker; :meth:`BatchWorker.answer` has what comes of it."""
        self.asked = self.positions if chosen is None else chosen
        self.worker.ask(turn, message)

    def stepped(self, plan: Plan) -> Results:
        """Let all instances take the step of a plain plan, where they are all of the vector's."""
        self.asked = self.positions
        return self.worker.steps(plan.actions, plan.seeds)

    def replay(self, episodes: dict[int, Any], seconds: float) -> Results:
        """Play episodes (seed, options, actions) of some instances again."""
        self.asked = list(episodes)
        rows = [(self._own[position], *episode) for position, episode in episodes.items()]
        return self.worker.replay(rows, seconds)

    def call(self, name: str, positions: Sequence[int]) -> list[Any]:
        """Return what a method of some instances returns, or the faults of those that fail."""
        self.asked = list(positions)
        return self.worker.call(name, [self._own[position] for position in positions])
