"""After a worker is lost: who it was, and its neighbours as they were.

A worker's memory is never saved. Each neighbour's episode is played again in a new worker, from the reset that began
it; its last observation and its return must then be those that were seen. After that the neighbours do what they were
asked to, as if nothing had happened. Whoever cannot be rebuilt, or not in time, is truncated and named.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from spade_envs.errors import SpadeError, WorkerFault
from spade_envs.isolation.batch_results import Results
from spade_envs.isolation.columns import Column, row_of
from spade_envs.snapshot import Snapshot
from spade_envs.vector.outcome import Outcome
from spade_envs.vector.squad import Plan, Squad

if TYPE_CHECKING:
    from spade_envs.vector.crew import Crew

REBUILD_S = 2.0
"""Seconds for playing all neighbours' episodes again."""
RESTORE_S = 1.0
"""Seconds for each snapshot that is restored."""
MOST_LOSSES = 4
"""So often in one step is a worker started anew."""


def recover(
    crew: Crew, squad: Squad, plan: Plan, asked: list[int], fault: WorkerFault, outcome: Outcome | None
) -> None:
    """Rebuild a lost worker's instances, and let those that were asked do what was planned.

    Faults are put into the outcome; those of instances that were not asked are noted for the next step.
    """
    pending, done, alone = list(asked), set[int](), False
    why: SpadeError = fault
    for _ in range(MOST_LOSSES):
        lost = _blamed(crew, squad, fault)
        alone = alone or (not lost and fault.kind != "closed")
        _report(crew, lost, asked, outcome)
        pending = [position for position in pending if position not in lost]
        try:
            aside = {position for position in pending if position in plan.resets}
            lost = _rebuilt(crew, squad, aside, outcome, done)
        except SpadeError as error:  # no worker can be started for this design
            why = error
            break
        _report(crew, lost, asked, outcome)
        pending = [position for position in pending if position not in lost]
        try:
            while pending and outcome is not None:
                part = pending[:1] if alone else list(pending)
                _do(crew, squad, plan, part, outcome)
                done.update(part)
                pending = pending[len(part) :]
            return
        except WorkerFault as again:
            why = fault = again
    else:
        crew.blame.design(squad.source, fault)
    squad.close()
    left = [at for at in squad.positions if at in pending or crew.history.runs(at)]
    _report(crew, {at: _beside(why) for at in left}, asked, outcome)


def _blamed(crew: Crew, squad: Squad, fault: WorkerFault) -> dict[int, WorkerFault]:
    """Return whose fault it was, where that is known, and end what is left of the worker."""
    guilty = None
    if fault.kind != "closed" and squad.asked:
        guilty = squad.asked[0] if len(squad.asked) == 1 else None
        guilty = squad.guilty() if guilty is None and fault.kind != "protocol" else guilty
    squad.close()
    if guilty is None:
        return {}
    crew.blame.one(guilty, fault)
    return {guilty: fault}


def _report(
    crew: Crew, lost: dict[int, WorkerFault], asked: Collection[int], outcome: Outcome | None
) -> None:
    for position, fault in lost.items():
        crew.history.forget(position)
        crew.broken.add(position)
        if outcome is not None and position in asked:
            outcome.faults[position] = fault
        else:
            crew.blame.noted[position] = fault


def _do(crew: Crew, squad: Squad, plan: Plan, part: list[int], outcome: Outcome) -> None:
    squad.ask(*squad.turn(plan, part), part)
    outcome.add(part, squad.worker.answer())
    crew.commit(plan, part, outcome)


def _rebuilt(
    crew: Crew, squad: Squad, aside: Collection[int], outcome: Outcome | None, done: Collection[int]
) -> dict[int, WorkerFault]:
    """Start a worker and play the instances' episodes again, but for those aside. Return those that are lost."""
    end: float | None = None
    waiting, returned, lost = {}, {}, {}
    for position in squad.positions:
        if crew.history.runs(position) and position not in aside:
            episode = crew.history.of(position)
            if episode is None:
                lost[position] = WorkerFault(
                    "lost", "its worker was lost, and its episode is too long to play again"
                )
            else:
                waiting[position] = episode[:3]
                returned[position] = episode.returned
    while True:
        squad.start(built=False)
        squad.started(crew.infos[0])
        end = end or time.monotonic() + REBUILD_S  # not before a worker is there: that is no instance's fault
        left = end - time.monotonic()
        if left <= 0:
            late = WorkerFault("lost", f"its worker was lost, and it was not rebuilt within {REBUILD_S:g} s")
            return lost | dict.fromkeys(waiting, late)
        if not waiting:
            return lost
        try:
            results = squad.replay(waiting, left)
        except WorkerFault as fault:
            guilty = None if fault.kind == "protocol" else squad.guilty()
            squad.close()
            blamed = list(waiting) if guilty is None else [guilty]
            for position in blamed:
                lost[position] = _beside(fault)
                del waiting[position]
        else:
            return lost | _changed(crew, {at: returned[at] for at in waiting}, results, outcome, done)


def _changed(
    crew: Crew, returned: dict[int, float], results: Results, outcome: Outcome | None, done: Collection[int]
) -> dict[int, WorkerFault]:
    """Return the instances that are not as they were: another observation, or another return."""
    found: dict[int, WorkerFault] = {}
    for row, position in enumerate(returned):
        seen = outcome.columns if outcome is not None and position in done else crew.last
        if row in results.undone:
            text = f"its worker was lost, and it was not rebuilt within {REBUILD_S:g} s"
            found[position] = WorkerFault("lost", text)
        elif row in results.faults:
            found[position] = _beside(results.faults[row])
        elif not _same(results.columns, row, seen, position) or results.rewards[row] != returned[position]:
            text = "its worker was lost, and the design does not repeat its episode"
            found[position] = WorkerFault("lost", text)
    return found


def _same(columns: list[Column], row: int, seen: list[Column], position: int) -> bool:
    return all(
        np.array_equal(found[row], known[position]) for found, known in zip(columns, seen, strict=True)
    )


def _beside(why: SpadeError) -> WorkerFault:
    return WorkerFault("lost", f"its worker was lost, and it could not be rebuilt: {why}")


def restore(crew: Crew, squad: Squad, snapshots: dict[int, Snapshot], outcome: Outcome) -> None:
    """Bring instances of one worker to the states of snapshots; those that cannot be are faults of the outcome."""
    waiting = dict(snapshots)
    for position in waiting:
        crew.history.forget(position)
    while waiting:
        if not squad.alive:
            recover(crew, squad, Plan(None, {}), [], WorkerFault("closed", "the worker is gone"), None)
        try:
            episodes = {at: (one.seed, one.options, list(one.actions)) for at, one in waiting.items()}
            results = squad.replay(episodes, RESTORE_S * len(waiting))
        except WorkerFault as fault:
            guilty = squad.guilty()
            named = list(waiting) if guilty is None or fault.kind == "protocol" else [guilty]
            squad.close()
            for position in named:
                outcome.faults[position] = fault
                del waiting[position]
            continue
        outcome.add(list(waiting), results)
        _take_up(crew, waiting, results, outcome)
        return


def _take_up(crew: Crew, snapshots: dict[int, Snapshot], results: Results, outcome: Outcome) -> None:
    space = crew.infos[0].observation_space
    for row, (position, snapshot) in enumerate(snapshots.items()):
        if position in outcome.faults:
            continue
        if row in results.undone or not snapshot.shows(row_of(space, results.columns, row)):
            text = "there was no time" if row in results.undone else "the design does not repeat its episode"
            outcome.faults[position] = WorkerFault("contract", f"restore: {text}")
            continue
        returned = float(results.rewards[row])
        crew.history.begin([position], [snapshot.seed], snapshot.options, snapshot.actions, returned)
        crew.broken.discard(position)
