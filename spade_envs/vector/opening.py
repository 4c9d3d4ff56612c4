"""Workers started, and what their instances declare: equal spaces, or an error that says whose are others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spade_envs.errors import UsageError, WorkerFault
from spade_envs.isolation import InstanceInfo
from spade_envs.vector.squad import Squad


def opened(squads: Sequence[Squad]) -> list[InstanceInfo]:
    """Start all workers, and return what the first instance of each declares.

    Raises:
        UsageError: a source is refused, or the instances' spaces differ.
        WorkerFault: a constructor fails.
    """
    for squad in squads:
        squad.start(built=True)
    infos = [_started(squad, len(squads) == len(squad.positions) == 1) for squad in squads]
    for squad, info in zip(squads, infos, strict=True):
        for name in ("observation_space", "action_space"):
            _check_equal(name, squad.positions[0], getattr(info, name), getattr(infos[0], name))
    return infos


def _started(squad: Squad, lone: bool) -> InstanceInfo:
    try:
        return squad.started(None)
    except WorkerFault as fault:
        who = None if lone else squad.guilty()
        raise WorkerFault(fault.kind, f"{fault}" if who is None else f"environment {who}: {fault}") from None


def _check_equal(name: str, position: int, space: Any, first: Any) -> None:
    if space != first:
        raise UsageError(
            f"all environments of a vector must have equal spaces: the {name} of environment {position} is "
            f"{str(space)[:120]}, that of environment 0 {str(first)[:120]}"
        )
