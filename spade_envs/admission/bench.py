"""A worker at work on one design."""

from __future__ import annotations

import math
import os
from dataclasses import replace

from spade_envs.admission.evidence import Level
from spade_envs.isolation import InstanceInfo, Limits, Worker

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
        known = _unused.pop(self._limits, None) if hash_seed == 0 else None
        self.worker = (
            known if known is not None and known.alive else Worker.start(self._limits, hash_seed=hash_seed)
        )
        self.instances: dict[Level, InstanceInfo] = {}

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
