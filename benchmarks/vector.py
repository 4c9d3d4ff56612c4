"""Vectors of isolated environments against Gymnasium's vectors of the same classes as plain Python.

Run it with ``python benchmarks/vector.py [steps|text|async|memory|rebuild|ppo ...]``; all of it without arguments. Figures are CPU time
of host and workers together. Other work on the machine inflates every figure, so both sides take turns in short blocks,
and a ratio is one of best blocks: compare those, not two runs.
"""

from __future__ import annotations

import gc
import os
import platform
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np
from gymnasium.vector import SyncVectorEnv
from isolation import HEADER, NUMERIC, children, cpu_of

from spade_envs import seeds_folder
from spade_envs.vector import IsolatedVectorEnv

TEXT = '''
import gymnasium as gym
from gymnasium import spaces


class Rooms(gym.Env):
    """Walk from room to room and read what is there."""

    def __init__(self, render_mode=None):
        self.render_mode = render_mode
        self.action_space = spaces.Discrete(4)
        self.observation_space = spaces.Text(400, charset="".join(map(chr, range(32, 127))))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._at, self._turn, self._bag = int(self.np_random.integers(16)), 0, []
        return self._told(), {}

    def step(self, action):
        row, column = divmod(self._at, 4)
        rows, columns = ((-1, 0), (1, 0), (0, -1), (0, 1))[action]
        self._at = (row + rows) % 4 * 4 + (column + columns) % 4
        self._turn += 1
        if self._at % 5 == 0 and self._at not in self._bag:
            self._bag.append(self._at)
        won = len(self._bag) == 4
        return self._told(), float(won), won, False, {"is_success": won}

    def _told(self):
        exits = ", ".join(("north", "south", "west", "east"))
        return f"Turn {self._turn}. You stand in room {self._at}. Exits: {exits}. You carry {self._bag or 'nothing'}."

    def hint(self):
        return "Walk."

    def expert_action(self):
        return 3
'''


def plain_class(source: str) -> Any:
    namespace: dict[str, Any] = {"__name__": "plain"}
    exec(compile(source, "plain", "exec"), namespace)
    return next(
        value
        for value in namespace.values()
        if hasattr(value, "expert_action") and value.__module__ == "plain"
    )


def workers() -> set[int]:
    return {worker for zygote in children(os.getpid()) for worker in children(zygote)}


def cpu(processes: set[int]) -> float:
    return time.process_time() + sum(map(cpu_of, processes))


def block(vector: Any, actions: list[np.ndarray], processes: set[int]) -> float:
    before = cpu(processes)
    for batch in actions:
        vector.step(batch)
    return cpu(processes) - before


def compare(name: str, source: str, count: int, blocks: int, steps: int) -> None:
    before = workers()
    ours = IsolatedVectorEnv(source, count)
    own = workers() - before
    theirs = SyncVectorEnv([plain_class(source)] * count)
    actions = list(np.random.default_rng(0).integers(0, ours.single_action_space.n, (steps, count)))
    used: dict[str, list[float]] = {"ours": [], "theirs": []}
    for vector in (ours, theirs):
        vector.reset(seed=0)
        vector.step(actions[0])
    gc.collect()
    for _ in range(blocks):
        used["theirs"].append(block(theirs, actions, set()))
        used["ours"].append(block(ours, actions, own))
    each = {who: 1e6 * min(times) / steps / count for who, times in used.items()}
    middle = {who: 1e6 * sorted(times)[blocks // 2] / steps / count for who, times in used.items()}
    print(
        f"  {name:22s} {count:5d} {len(own):3d}   {each['theirs']:7.2f} {each['ours']:7.2f}   "
        f"{each['theirs'] / each['ours']:5.2f}   {middle['theirs'] / middle['ours']:5.2f}"
    )
    ours.close()


def steps(names: tuple[str, ...] = ("box", "oasis_walk", "lamp_row", "maze_key")) -> None:
    print("\nmicroseconds of CPU for each environment's step, and Gymnasium's by ours (best blocks, medians)")
    print("                              N  workers  Gymnasium  ours   ratio  medians")
    for name in names:
        source = HEADER + NUMERIC if name == "box" else (seeds_folder() / f"{name}.py").read_text()
        for count in (1, 8, 64, 1024):
            compare(name, source, count, *((60, 100) if count < 64 else (40, 20) if count == 64 else (16, 4)))


def text() -> None:
    print("\nthe same with observations of text")
    compare("text of 90 characters", HEADER + TEXT, 64, 40, 20)


def main() -> None:
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "gymnasium", "msgspec"))
    print(f"Python {sys.version.split()[0]}, {packages}")
    print(f"{platform.platform()}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}")
    parts: dict[str, Callable[[], None]] = {"steps": steps, "text": text}
    for name in sys.argv[1:] or parts:
        parts[name]()


if __name__ == "__main__":
    main()
