"""Taking rounds back: the weights, the memory, the pool, the records, together or apart."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

from spade_envs import Registry
from spade_envs.errors import UsageError
from spade_envs.registry import roll_back as roll_back_statuses
from spade_train.runs.checkpoints import (
    RunState,
    checkpoint_at,
    forget_after,
    forget_standing,
    mark,
    state_at,
    withdraw,
)
from spade_train.runs.folder import RunFolder

Part = Literal["weights", "memory", "pool", "records"]
PARTS: tuple[Part, ...] = get_args(Part)


@dataclass(frozen=True)
class RolledBack:
    """What a roll-back did.

    Attributes:
        parts: what was put back.
        round: after how many rounds the run goes on.
        withdrawn: the files of environments that were moved aside.
    """

    parts: tuple[Part, ...]
    round: int
    withdrawn: tuple[Path, ...]


def roll_back(run: RunFolder, round_: int, parts: Collection[Part] = PARTS) -> RolledBack:
    """Put parts of a run to where they stood after ``round_`` rounds; ``resume`` goes on from there.

    The memory is what the designer's prompts tell. Without the weights, the run goes on after its last round, with
    an older memory or pool; with the weights alone, rounds are played again by a designer that remembers more.

    Raises:
        UsageError: the run has no such round, or no weights of it.
        RegistryError: an environment cannot be withdrawn.
    """
    with run.locked():
        then = state_at(run, round_)
        target = checkpoint_at(run, round_ if "weights" in parts else None)
        if target is None:
            raise UsageError(f"{run.path} has no checkpoint yet: there is nothing to go back from.")
        newest = checkpoint_at(run)
        assert newest is not None  # there is a target
        state = _mixed(newest.state, then, parts)
        if "weights" in parts:
            forget_after(run, round_)
        moved = _pool(run, state, round_, "weights" in parts) if "pool" in parts else []
        if "records" in parts:
            run.cut(state.sizes)
        mark(target.path, state)
    return RolledBack(tuple(part for part in PARTS if part in parts), state.round, tuple(moved))


def _pool(run: RunFolder, state: RunState, round_: int, weights: bool) -> list[Path]:
    """Put the pool back: without a trace where the weights go back too, else by changes that are on record."""
    moved = withdraw(run, state.environments)
    if weights:
        forget_standing(run, round_)
    elif run.registry.is_dir():
        roll_back_statuses(Registry(run.registry), run.path.name, round_ - 1)
    return moved


def _mixed(now: RunState, then: RunState, parts: Collection[Part]) -> RunState:
    return replace(
        now,
        round=then.round if "weights" in parts else now.round,
        memory=then.memory if "memory" in parts else now.memory,
        watch=then.watch if "memory" in parts else now.watch,
        environments=then.environments if "pool" in parts else now.environments,
        learnt=then.learnt if "pool" in parts else now.learnt,
        sizes=then.sizes if "records" in parts else now.sizes,
    )
