"""Where a run can go on: TRL's checkpoint and, beside it, what self-play knew at the end of that round.

``runs/<name>/checkpoints/checkpoint-<step>/`` is written by TRL (weights, optimiser, schedule, generators); then
``selfplay.json`` is put into it whole. A checkpoint without that file is half-written and never used.

The states of all rounds stay in ``states/``, for a roll-back of memory or pool to a round whose weights are gone.

Going back to a checkpoint puts everything to where it stood: records are cut to their length then, environments
that came later move to ``withdrawn/``. A round that is played again thus makes the same ids as at the first time.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Collection
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spade_envs import Registry, keep_only
from spade_envs.errors import UsageError
from spade_envs.registry import take_back
from spade_train.memory import Memory

if TYPE_CHECKING:
    from spade_train.runs.folder import RunFolder
    from spade_train.selfplay import SelfPlay

STATE_FILE = "selfplay.json"
FORMAT = 1


@dataclass(frozen=True)
class RunState:
    """What self-play knew at the end of a round; everything else follows from the settings and the round.

    Attributes:
        round: the next round.
        memory: :meth:`Memory.state`.
        environments: id -> SHA-256 of the file, of every environment that the run has admitted.
        sizes: file name -> bytes, of every file of records.
        watch: :meth:`Watch.state`.
        freedom: :meth:`Freedom.state`.
        learnt: :meth:`Learnt.state`, what the curriculum knows; nothing in states of earlier versions.
    """

    round: int
    memory: dict[str, Any]
    environments: dict[str, str]
    sizes: dict[str, int]
    watch: dict[str, Any]
    freedom: dict[str, Any] = field(default_factory=dict)
    learnt: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, selfplay: SelfPlay, run: RunFolder, next_round: int) -> RunState:
        """Return the state of a run between two rounds."""
        held = {str(one.header.id): one.file_sha256 for one in selfplay.workshop.registry.entries()}
        return cls(
            next_round,
            selfplay.memory.state(),
            held,
            run.sizes(),
            selfplay.watch.state(),
            selfplay.freedom.state(),
            selfplay.learnt.state(),
        )


@dataclass(frozen=True)
class Checkpoint:
    """One whole checkpoint."""

    path: Path
    state: RunState

    @property
    def round(self) -> int:
        """How many rounds had been finished; the next one has this number, counted from 0."""
        return self.state.round

    def memory(self) -> Memory:
        """Return the memory as it was."""
        return Memory.from_state(self.state.memory)


def mark(folder: Path, state: RunState) -> None:
    """Put the state beside TRL's checkpoint, whole or not at all: from now on the checkpoint counts."""
    _write(folder / STATE_FILE, state)


def keep_state(run: RunFolder, state: RunState) -> None:
    """Keep the state at the end of a round for good."""
    _write(_state_path(run, state.round), state)


def state_at(run: RunFolder, round_: int) -> RunState:
    """Return the state after so many rounds.

    Raises:
        UsageError: the run has not come so far.
    """
    state = _read(_state_path(run, round_))
    if state is None:
        there = sorted(int(path.stem) for path in run.states.glob("*.json"))
        known = f"{there[0]} to {there[-1]}" if there else "none yet"
        raise UsageError(f"{run.path} has no state after round {round_}; it has: {known}.")
    return state


def checkpoints(run: RunFolder) -> list[Checkpoint]:
    """Return the whole checkpoints of a run, the oldest first."""
    found = []
    for path in run.checkpoints.glob("checkpoint-*"):
        if re.fullmatch(r"checkpoint-\d+", path.name) and (state := _read(path / STATE_FILE)) is not None:
            found.append(Checkpoint(path, state))
    return sorted(found, key=lambda one: one.round)


def checkpoint_at(run: RunFolder, round_: int | None = None) -> Checkpoint | None:
    """Return the checkpoint after ``round_`` rounds, by default the newest; None where there is none at all.

    Raises:
        UsageError: that round's checkpoint is not there; the message names those that are.
    """
    known = {one.round: one for one in checkpoints(run)}
    if round_ is None:
        return known[max(known)] if known else None
    if round_ not in known:
        there = ", ".join(map(str, known)) or "none"
        raise UsageError(
            f"{run.path} has no checkpoint after round {round_}; it has: {there}. "
            "--save_total_limit keeps more, --save_rounds saves more often."
        )
    return known[round_]


def restore(run: RunFolder, at: Checkpoint | None) -> None:
    """Put a run's files to where they stood at a checkpoint, or at the run's beginning.

    Raises:
        RegistryError: an environment cannot be withdrawn.
    """
    withdraw(run, at.state.environments if at else {})
    run.cut(at.state.sizes if at else {})
    forget_standing(run, at.round if at else 0)
    forget_after(run, at.round if at else 0)


def withdraw(run: RunFolder, held: Collection[str]) -> list[Path]:
    """Move every environment of the run that is not among ``held`` aside; return the files' new places."""
    aside = run.path / "withdrawn" / time.strftime("%Y-%m-%d-%H%M%S")
    return keep_only(Registry(run.registry), held, aside)


def forget_standing(run: RunFolder, round_: int) -> None:
    """Forget what the registry has on record of rounds from this one on. Raises RegistryError."""
    if run.registry.is_dir():
        take_back(Registry(run.registry), run.path.name, round_)


def forget_after(run: RunFolder, round_: int) -> None:
    """Remove the checkpoints and states of later rounds, and checkpoints that are half-written."""
    whole = {one.path for one in checkpoints(run) if one.round <= round_}
    for path in run.checkpoints.glob("checkpoint-*"):
        if path not in whole:
            shutil.rmtree(path)
    for path in run.states.glob("*.json"):
        if int(path.stem) > round_:
            path.unlink()


def _state_path(run: RunFolder, round_: int) -> Path:
    return run.states / f"{round_:06}.json"


def _write(path: Path, state: RunState) -> None:
    path.parent.mkdir(exist_ok=True)
    text = json.dumps({"format": FORMAT, **asdict(state)})
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(file.name, path)


def _read(path: Path) -> RunState | None:
    try:
        data = json.loads(path.read_text())
        if data.pop("format", None) != FORMAT:
            return None
        return RunState(**data)
    except (OSError, ValueError, TypeError):
        return None
