"""A run's folder. Lines are appended whole; a checkpoint appears whole or not at all.

``runs/<name>/``
    config.json       every setting, the versions, the command
    rounds.jsonl      one line a round: what the table shows, and more
    designs.jsonl     one line a design: reply, source, refusal or id, the report of its admission
    plays.jsonl       one line a play: environment, seed, hint, return, success, length, how it ended
    episodes.jsonl    one unhinted and one hinted episode of every environment, as text
    contexts.jsonl    one line a prompt of the designer's: what it told, and why (``spade-train saw``)
    corpus.jsonl      one line a source of documents, what was read and what was not; anew where it changed
    alarms.jsonl      what the watch over the designer found
    evaluations.jsonl how good the agent was between rounds, where that is asked for
    evaluations/      what ``spade-train eval`` has found since, one file each
    faults.jsonl      rounds that this machine could not finish, and why
    registry/         the environments that were admitted
    checkpoints/      where the run can go on (``spade-train resume``)
    states/           what self-play knew after each round
    ahead/            designs that were ordered beside training, one file an order
    withdrawn/        environments of rounds that were taken back
    checkpoint/       the trained model, at the end
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from spade_envs.errors import UsageError

RECORDS = ("rounds", "designs", "plays", "episodes", "contexts", "corpus", "alarms", "faults", "evaluations")

KINDS = {
    "preset": str,
    "preset_settings": dict,
    "flags": list,
    "model": str,
    "curriculum": dict,
    "versions": dict,
    "grpo": dict,
}
"""What a run's config.json must hold, so that the run can go on."""


_WAITS = (0.0, 0.01, 0.05, 0.2)
"""Seconds before each try to take a run's lock: whoever looks whether it trains holds it for a moment, too."""


@dataclass(frozen=True)
class RunFolder:
    """The folder of one run; :meth:`create` makes it, :meth:`open` finds it."""

    path: Path

    @classmethod
    def create(cls, runs: Path, name: str | None) -> RunFolder:
        """Make a new folder below ``runs``.

        Raises:
            UsageError: a run of that name exists, or the folder cannot be made.
        """
        if name and Path(name).name != name:
            raise UsageError(
                f"run_name {name}: it is one folder's name; --runs names the folder that holds it."
            )
        wanted = name or time.strftime("%Y-%m-%d-%H%M%S")
        for path in [runs / wanted, *([] if name else (runs / f"{wanted}-{i}" for i in range(2, 100)))]:
            try:
                path.mkdir(parents=True)
            except FileExistsError:
                continue
            except OSError as problem:
                raise UsageError(
                    f"{path}: cannot be made ({problem.strerror}); name another --runs."
                ) from problem
            return cls(path)
        raise UsageError(
            f"{runs / wanted} exists; choose another --run_name, or go on with: spade-train resume {runs / wanted}"
        )

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """Return the folder of an earlier run.

        Raises:
            UsageError: there is no run.
        """
        if not (path / "config.json").is_file():
            raise UsageError(f"{path} holds no run: it has no config.json. spade-train list shows the runs.")
        return cls(path)

    @property
    def registry(self) -> Path:
        """Where admitted environments go."""
        return self.path / "registry"

    @property
    def checkpoints(self) -> Path:
        """Where TRL's checkpoints go."""
        return self.path / "checkpoints"

    @property
    def states(self) -> Path:
        """Where self-play's state after each round goes."""
        return self.path / "states"

    @property
    def ahead(self) -> Path:
        """Where orders of designs go that are made beside training."""
        return self.path / "ahead"

    @property
    def evaluations(self) -> Path:
        """Where evaluations that were asked for by hand are kept."""
        return self.path / "evaluations"

    @property
    def checkpoint(self) -> Path:
        """Where the trained model goes."""
        return self.path / "checkpoint"

    def config(self) -> dict[str, Any]:
        """Return what :meth:`write_config` wrote.

        Raises:
            UsageError: the file is broken.
        """
        try:
            settings: dict[str, Any] = json.loads((self.path / "config.json").read_text())
        except (OSError, ValueError, RecursionError) as problem:
            raise UsageError(f"{self.path / 'config.json'} cannot be read: {problem}") from problem
        if not isinstance(settings, dict) or any(
            not isinstance(settings.get(k), t) for k, t in KINDS.items()
        ):
            raise UsageError(f"{self.path / 'config.json'} is not a run's: spade-train did not write it.")
        return settings

    def write_config(self, settings: dict[str, Any]) -> None:
        """Keep the settings; what is not JSON is kept as its text."""
        scratch = self.path / ".config.json"
        scratch.write_text(json.dumps(settings, indent=2, default=str) + "\n")
        scratch.replace(self.path / "config.json")

    @contextlib.contextmanager
    def locked(self, first: bool = True) -> Iterator[None]:
        """Keep every other run from training in this folder; the ``first`` process does it for all.

        Raises:
            UsageError: one does already.
        """
        if not first:
            yield
            return
        with (self.path / ".lock").open("w") as lock:
            if not any(_taken(lock, wait) for wait in _WAITS):
                raise UsageError(f"{self.path} is being trained by another process.")
            yield

    def append(self, file: str, entries: Sequence[dict[str, Any]]) -> None:
        """Append lines to a file of records and see them onto the disk."""
        if entries:
            with (self.path / file).open("a") as lines:
                lines.writelines(json.dumps(entry, default=str) + "\n" for entry in entries)
                lines.flush()
                os.fsync(lines.fileno())

    def keep_evaluation(self, text: str) -> None:
        """Keep the JSON of an evaluation for the report, under a name of its own; not in a folder that is read only."""
        with contextlib.suppress(OSError):
            self.evaluations.mkdir(exist_ok=True)
            name = f"{time.strftime('%Y-%m-%d-%H%M%S')}-{time.time_ns() % 1_000_000:06d}"
            scratch = self.evaluations / f".{name}"
            scratch.write_text(text)
            scratch.replace(self.evaluations / f"{name}.json")

    def read(self, file: str) -> list[dict[str, Any]]:
        """Return the whole lines of a file of records; a last one that was cut off is left out."""
        try:
            lines = regular(self.path / file).read_text().splitlines()
        except FileNotFoundError:
            return []
        entries = []
        for line in lines:
            with contextlib.suppress(ValueError, RecursionError):
                entries.append(json.loads(line))
        return entries

    def sizes(self) -> dict[str, int]:
        """Return the length of every file of records, in bytes."""
        paths = [self.path / f"{name}.jsonl" for name in RECORDS]
        return {path.name: path.stat().st_size for path in paths if path.exists()}

    def cut(self, sizes: Mapping[str, int]) -> None:
        """Cut every file of records to its length at an earlier time."""
        for name, size in self.sizes().items():
            if size > sizes.get(name, 0):
                os.truncate(self.path / name, sizes.get(name, 0))

    def scratch(self) -> Path:
        """Return an unused folder that the trained model is to be written into, before :meth:`publish`."""
        scratch = self.path / ".checkpoint.partial"
        shutil.rmtree(scratch, ignore_errors=True)
        return scratch

    def publish(self) -> Path:
        """Give the model in the scratch folder its name, in the place of an older one."""
        old = self.path / ".checkpoint.old"
        shutil.rmtree(old, ignore_errors=True)
        if self.checkpoint.exists():
            self.checkpoint.rename(old)
        (self.path / ".checkpoint.partial").rename(self.checkpoint)
        shutil.rmtree(old, ignore_errors=True)
        return self.checkpoint


def _taken(lock: IO[str], wait: float) -> bool:
    """Whether the lock could be taken, after so many seconds."""
    time.sleep(wait)
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def regular(path: Path) -> Path:
    """Return the path of a file that can be read to its end.

    Raises:
        FileNotFoundError: there is none, or it is a pipe or a device, whose reading may never end.
    """
    if not path.is_file():
        raise FileNotFoundError(f"{path} is no file")
    return path
