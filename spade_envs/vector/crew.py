"""All instances of a vector and their episodes, in one worker or in several."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from spade_envs.errors import UsageError, WorkerFault
from spade_envs.isolation import InstanceInfo, Limits, WorkerPool
from spade_envs.isolation.batch_results import Results
from spade_envs.isolation.columns import Column, leaves, row_of
from spade_envs.snapshot import Snapshot
from spade_envs.vector.blame import Blame
from spade_envs.vector.history import History
from spade_envs.vector.opening import opened
from spade_envs.vector.outcome import Outcome, unasked, whole
from spade_envs.vector.recovery import recover, restore
from spade_envs.vector.sizes import squads_of
from spade_envs.vector.squad import Member, Plan, Positions, Squad


class Crew:
    """The instances of a vector. What is lost is rebuilt, and what cannot be is named.

    Args:
        members: the instances.
        limits: what each worker may use.
        pool: where workers come from.
        most_steps: of the longest episode: what is longer cannot be rebuilt.
        watch: whether what the instances render is wanted with each step.
        workers: how many to use; as many as are sensible where missing.

    Attributes:
        members: as given.
        infos: what the first instance of each worker declares.
        history: how each episode began, and its actions.
        last: the last true observations, by leaves; this object's own.
        blame: whose fault what was lost is.
        broken: instances that have no episode, and are built anew for the next.

    Raises:
        UsageError: a source is refused, or the instances' spaces differ.
        WorkerFault: a constructor fails.
    """

    def __init__(
        self,
        members: Sequence[Member],
        limits: Limits,
        pool: WorkerPool,
        most_steps: int,
        *,
        watch: bool = False,
        workers: int | None = None,
    ) -> None:
        self.members, self.count = list(members), len(members)
        self.history = History(self.count, most_steps)
        self.blame = Blame(self.members, pool.quarantine)
        self.broken: set[int] = set()
        self._pool = pool
        self._squads = [
            Squad([self.members[at] for at in part], part, len(part) == self.count, pool, limits, watch)
            for part in squads_of([member.source for member in members], workers)
        ]
        try:
            self.infos = opened(self._squads)
        except BaseException:
            self.close()
            raise
        space = self.infos[0].observation_space
        self.last: list[Column] = [
            [""] * self.count if leaf.is_text else np.zeros((self.count, *leaf.space.shape), leaf.space.dtype)
            for leaf in leaves(space)
        ]

    def declared(self) -> dict[str, InstanceInfo]:
        """Return what each design declares, by its source."""
        return {squad.source: info for squad, info in zip(self._squads, self.infos, strict=True)}

    def turn(self, plan: Plan) -> Outcome:
        """Let instances take a step each, or reset them. Whoever fails is named in the outcome.

        Raises:
            UsageError: something in the plan cannot be sent to a worker.
        """
        if self._is_usual(plan):
            outcome = self._stepped(plan)
        else:
            wanted = range(self.count) if plan.only is None else plan.only
            refused = self.blame.refused(wanted, plan.resets) if self.blame else {}
            plan = (
                plan._replace(anew=[at for at in plan.resets if at in self.broken]) if self.broken else plan
            )
            work = [(squad, squad.chosen(plan, refused)) for squad in self._squads]
            work = [(squad, chosen) for squad, chosen in work if chosen is None or chosen]
            outcome = self._taken(plan, work, self._exchanged(plan, work))
            outcome.faults.update(refused)
        if outcome.faults:
            self._settle(outcome)
        if self.blame:
            self.blame.forgive(outcome)
        self.last = [column.copy() for column in outcome.columns]
        return outcome

    def _is_usual(self, plan: Plan) -> bool:
        """Say whether all instances take a step, in one worker, and nothing is known that would keep one from it."""
        return plan.is_plain and len(self._squads) == 1 and not (self.blame or self.broken)

    def _stepped(self, plan: Plan) -> Outcome:
        squad = self._squads[0]
        try:
            outcome = whole(squad.stepped(plan))
        except WorkerFault as fault:
            return self._gathered(plan, [(squad, None)], [fault])
        except BaseException:  # who has taken the step and who has not is no longer known
            self.lose()
            raise
        self.commit(plan, None, outcome)
        return outcome

    def _exchanged(self, plan: Plan, work: Sequence[tuple[Squad, Positions]]) -> list[Results | WorkerFault]:
        """Ask all workers, and then wait for all."""
        turns = [squad.turn(plan, chosen) for squad, chosen in work]
        found: list[Any] = []
        try:
            for (squad, chosen), (turn, message) in zip(work, turns, strict=True):
                try:
                    squad.ask(turn, message, chosen)
                    found.append(None)
                except WorkerFault as fault:
                    found.append(fault)
            for at, (squad, _) in enumerate(work):
                if found[at] is None:
                    try:
                        found[at] = squad.worker.answer()
                    except WorkerFault as fault:
                        found[at] = fault
        except BaseException:  # who has taken the step and who has not is no longer known
            self.lose()
            raise
        return found

    def lose(self) -> None:
        """Give all workers up: whatever is asked next is asked of rebuilt instances."""
        for squad in self._squads:
            squad.close()

    def _taken(
        self,
        plan: Plan,
        work: Sequence[tuple[Squad, Positions]],
        found: Sequence[Results | WorkerFault],
    ) -> Outcome:
        if len(self._squads) == len(work) == 1 and work[0][1] is None and isinstance(found[0], Results):
            outcome = whole(found[0])
            self.commit(plan, None, outcome)
            return outcome
        return self._gathered(plan, work, found)

    def _gathered(
        self, plan: Plan, work: Sequence[tuple[Squad, Positions]], found: Sequence[Results | WorkerFault]
    ) -> Outcome:
        outcome = unasked(self.last, self.count)
        if all(isinstance(results, Results) for results in found):
            for (squad, chosen), results in zip(work, found, strict=True):
                outcome.add(squad.positions if chosen is None else chosen, results)  # type: ignore[arg-type]
            every = plan.only is None and all(chosen is None for _, chosen in work)
            self.commit(plan, None if every else [at for squad, _ in work for at in squad.asked], outcome)
            return outcome
        for (squad, chosen), results in zip(work, found, strict=True):
            asked = squad.positions if chosen is None else chosen
            if isinstance(results, Results):
                outcome.add(asked, results)
                self.commit(plan, asked, outcome)
        for (squad, chosen), results in zip(work, found, strict=True):
            if isinstance(results, WorkerFault):
                recover(
                    self, squad, plan, list(squad.positions if chosen is None else chosen), results, outcome
                )
        return outcome

    def commit(self, plan: Plan, asked: Positions, outcome: Outcome) -> None:
        """Note that these instances have done what was planned."""
        if plan.actions is not None:
            self.history.note(plan.actions, outcome.rewards, asked)
        if plan.resets:
            begun = [at for at in (plan.resets if asked is None else asked) if at in plan.resets]
            self.history.begin(begun, [plan.resets[at] for at in begun], plan.options)
            self.broken.difference_update(begun)
        if outcome.finals and plan.seeds is not None:
            begun = [at for at in outcome.finals if asked is None or at in asked]
            self.history.begin(begun, plan.seeds[begun].tolist(), None)
        for at in outcome.faults:
            self.history.forget(at)

    def _settle(self, outcome: Outcome) -> None:
        outcome.settle(self.last)
        for position in outcome.faults:
            self.history.forget(position)
            self.broken.add(position)

    def call(self, name: str, positions: Collection[int]) -> dict[int, Any]:
        """Return what a method of each of these instances returns.

        Raises:
            WorkerFault: one of them fails; the next step tells it, too, where the instance is lost.
        """
        found: dict[int, Any] = {}
        for squad in self._squads:
            asked = [position for position in squad.positions if position in positions]
            if asked:
                found.update(zip(asked, self._called(squad, name, asked), strict=True))
        for position, value in found.items():
            if isinstance(value, WorkerFault):
                raise WorkerFault(value.kind, f"environment {position}: {value}")
        return found

    def _called(self, squad: Squad, name: str, asked: list[int]) -> list[Any]:
        nothing = Plan(None, {})
        if not squad.alive:
            recover(self, squad, nothing, [], WorkerFault("closed", "the worker is gone"), None)
        try:
            return squad.call(name, asked)
        except WorkerFault as fault:
            guilty = squad.guilty()
            recover(self, squad, nothing, [], fault, None)
            who = "one of its environments" if guilty is None else f"environment {guilty}"
            raise WorkerFault(fault.kind, f"{who}: {fault}") from None
        except BaseException:
            self.lose()
            raise

    def snapshot(self, position: int) -> Snapshot:
        """Return an instance's episode, as what it takes to play it again.

        Raises:
            UsageError: there is none, or it is too long.
        """
        episode = self.history.of(position)
        if episode is None or position in self.broken:
            raise UsageError(f"environment {position} has no episode that could be played again")
        seed, options, actions, _ = episode
        member = self.members[position]
        seen = row_of(self.infos[0].observation_space, self.last, position)
        return Snapshot.of(member.source, member.arguments, (seed, options), actions, seen)

    def restore(self, snapshots: dict[int, Snapshot]) -> Outcome:
        """Bring instances to the states of snapshots. Whoever fails is named in the outcome.

        Raises:
            UsageError: a snapshot is of another design, or of one with other arguments.
        """
        for position, snapshot in snapshots.items():
            snapshot.check(self.members[position].source, self.members[position].arguments)
        outcome = unasked(self.last, self.count)
        for squad in self._squads:
            asked = {at: snapshots[at] for at in squad.positions if at in snapshots}
            if asked:
                restore(self, squad, asked, outcome)
        if outcome.faults:
            self._settle(outcome)
        self.last = [column.copy() for column in outcome.columns]
        return outcome

    def close(self) -> None:
        """End all workers. Safe to call again."""
        self.lose()
