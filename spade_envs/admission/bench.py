"""A worker at work on one design."""

from __future__ import annotations

import math
import os
from dataclasses import replace

from spade_envs.admission.evidence import Level
from spade_envs.contract import Rejection
from spade_envs.errors import WorkerFault
from spade_envs.isolation import Description, InstanceInfo, Limits, Worker

# Workers that have compiled what was refused and have run nothing: to start one costs more than all else about a
# hopeless design. By their limits, since deadlines follow the machine's load.
_unused: dict[Limits, Worker] = {}


def patience() -> float:
    """Return by how much deadlines are prolonged while this machine is busy: they count wall time.

    It is a power of two, 16 at most.
    """
    load = os.getloadavg()[0] / (os.cpu_count() or 1) if hasattr(os, "getloadavg") else 1.0
    return min(16.0, 2.0 ** math.ceil(math.log2(max(1.0, load))))


class Bench:
    """One worker, and one instance of the design per level."""

    def __init__(self, hash_seed: int = 0) -> None:
        usual, longer = Limits(), patience()
        self._limits = replace(usual, build_s=longer * usual.build_s, call_s=longer * usual.call_s)
        self._hash_seed = hash_seed
        self._kept = _unused.pop(self._limits, None) if hash_seed == 0 else None
        self.worker = self._kept if self._kept is not None and self._kept.alive else self._started()
        self.instances: dict[Level, InstanceInfo] = {}

    def _started(self) -> Worker:
        return Worker.start(self._limits, hash_seed=self._hash_seed)

    def load(self, source: str) -> Description | Rejection:
        """Compile the design in the worker; in a new one where that was lost, or had died while nobody used it.

        Raises:
            WorkerFault: compiling failed.
        """
        try:
            return self.worker.load(source)
        except WorkerFault as fault:
            if fault.kind != "closed" and not (fault.gone and self.worker is self._kept):
                raise
        self.worker = self._started()
        return self.worker.load(source)

    def close(self) -> None:
        """End the worker, or keep it for the next design where nothing has been run in it."""
        if self.worker.used or not self.worker.alive or self._hash_seed or self._limits in _unused:
            self.worker.close()
        else:
            _unused[self._limits] = self.worker

    def instance(self, level: Level) -> InstanceInfo:
        """Return the instance of a level; it is made on first use and kept over all episodes."""
        if level not in self.instances:
            self.instances[level] = self.another(level)
        return self.instances[level]

    def another(self, level: Level) -> InstanceInfo:
        """Return one more instance of a level."""
        return self.worker.make(**({} if level is None else {"difficulty": level}))
