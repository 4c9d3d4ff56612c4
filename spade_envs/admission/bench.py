"""A worker at work on one design."""

from __future__ import annotations

import os
from dataclasses import replace

from spade_envs.admission.evidence import Level
from spade_envs.isolation import InstanceInfo, Limits, Worker


def patience() -> float:
    """Return by how much deadlines are prolonged while this machine is busy: they count wall time."""
    load = os.getloadavg()[0] / (os.cpu_count() or 1) if hasattr(os, "getloadavg") else 1.0
    return min(10.0, max(1.0, load))


class Bench:
    """One worker, and one instance of the design per level."""

    def __init__(self, hash_seed: int) -> None:
        usual, longer = Limits(), patience()
        limits = replace(usual, build_s=longer * usual.build_s, call_s=longer * usual.call_s)
        self.worker = Worker.start(limits, hash_seed=hash_seed)
        self.instances: dict[Level, InstanceInfo] = {}

    def instance(self, level: Level) -> InstanceInfo:
        """Return the instance of a level; it is made on first use and kept over all episodes."""
        if level not in self.instances:
            self.instances[level] = self.another(level)
        return self.instances[level]

    def another(self, level: Level) -> InstanceInfo:
        """Return one more instance of a level."""
        return self.worker.make(**({} if level is None else {"difficulty": level}))
