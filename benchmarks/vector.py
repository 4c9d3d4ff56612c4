"""Vectors of isolated environments against Gymnasium's vectors of the same classes as plain Python.

Run it with ``python benchmarks/vector.py``, with steps, text, spread, wall, async, memory, rebuild or ppo for some of
it. Figures are CPU time of host and workers together. Other work on the machine inflates every figure, so both sides
take turns in short blocks, and a ratio is one of best blocks: compare those, not two runs.
"""

from __future__ import annotations

import gc
import os
import platform
import signal
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv
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


def compare(
    name: str, source: str, count: int, blocks: int, steps: int, workers_of: int | None = None
) -> None:
    before = workers()
    ours = IsolatedVectorEnv(source, count, workers=workers_of)
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


def spread() -> None:
    print("\nthe same 1,024 boxes in fewer workers and in more")
    for count in (1, 2, 4, 8):
        compare("box", HEADER + NUMERIC, 1024, 16, 4, count)


def wall() -> None:
    """Wall time with two workers: a figure of two free cores, and of nothing where other work runs on them."""
    source, count, steps = HEADER + NUMERIC, 1024, 4
    ours, theirs = IsolatedVectorEnv(source, count, workers=2), SyncVectorEnv([plain_class(source)] * count)
    actions = np.zeros(count, int)
    times: dict[str, list[float]] = {"ours": [], "theirs": []}
    for vector in (ours, theirs):
        vector.reset(seed=0)
    for _ in range(20):
        for who, vector in (("theirs", theirs), ("ours", ours)):
            begin = time.perf_counter()
            for _ in range(steps):
                vector.step(actions)
            times[who].append(1e6 * (time.perf_counter() - begin) / steps / count)
    ours.close()
    best, middle = ({who: sorted(found)[at] for who, found in times.items()} for at in (0, 10))
    print("\nmicroseconds of wall for each environment's step, two workers, N = 1,024 (best blocks, medians)")
    for what, found in (("best", best), ("median", middle)):
        ratio = found["theirs"] / found["ours"]
        print(f"  {what:6s} Gymnasium {found['theirs']:7.2f}  ours {found['ours']:7.2f}  ratio {ratio:5.2f}")


def cpu_of_all(process: int) -> float:
    """CPU seconds of this process and of all that descend from it."""
    below = sum(cpu_of_all(child) for child in children(process))
    return below + (time.process_time() if process == os.getpid() else cpu_of(process))


def asynchronous() -> None:
    print(
        "\nagainst AsyncVectorEnv, a box of 8 float32, N = 64: microseconds of CPU and of wall for each step of one"
    )
    source, count, steps = HEADER + NUMERIC, 64, 20
    ours = IsolatedVectorEnv(source, count)
    theirs = AsyncVectorEnv([plain_class(source)] * count, context="fork")
    batch = np.zeros(count, int)
    best: dict[str, list[tuple[float, float]]] = {"ours": [], "theirs": []}
    for name, vector in (("ours", ours), ("theirs", theirs)):
        vector.reset(seed=0)
        for _ in range(6):
            cpu_before, wall = cpu_of_all(os.getpid()), time.perf_counter()
            for _ in range(steps):
                vector.step(batch)
            wall = time.perf_counter() - wall
            best[name].append((cpu_of_all(os.getpid()) - cpu_before, wall))
    cpus, walls = (
        {who: min(part) / steps / count * 1e6 for who, part in zip(best, found, strict=True)}
        for found in zip(*(zip(*times, strict=True) for times in best.values()), strict=True)
    )
    for what, found in (("CPU", cpus), ("wall", walls)):
        ratio = found["theirs"] / found["ours"]
        print(f"  {what:4s} theirs {found['theirs']:8.1f}  ours {found['ours']:7.1f}  ratio {ratio:5.1f}")
    ours.close()
    theirs.close()


def memory() -> None:
    """Proportional memory of host and workers: a page that several share counts once."""
    count = 4096
    mine = int(_pss(os.getpid()))
    before = workers()
    begin = time.perf_counter()
    vector = IsolatedVectorEnv(HEADER + NUMERIC, count)
    taken = time.perf_counter() - begin
    vector.reset(seed=0)
    for _ in range(20):
        vector.step(np.zeros(count, int))
    own = workers() - before
    used = sum(map(_pss, own)) + _pss(os.getpid()) - mine
    print(f"\n{count:,} environments in {len(own)} workers: {used / 1024:.0f} MB, made in {taken:.1f} s")
    vector.close()


def _pss(process: int) -> int:
    lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def rebuild() -> None:
    print("\nmilliseconds of a step in which a worker is killed from outside, 50 steps into the episodes")
    for count in (8, 64, 256):
        times = []
        for _ in range(5):
            before = workers()
            vector = IsolatedVectorEnv(HEADER + NUMERIC, count, workers=1)
            (worker,) = workers() - before
            vector.reset(seed=0)
            for _ in range(50):
                vector.step(np.zeros(count, int))
            os.kill(worker, signal.SIGKILL)
            begin = time.perf_counter()
            lost = int(vector.step(np.zeros(count, int))[3].sum())
            times.append(time.perf_counter() - begin)
            assert lost <= 1
            vector.close()
        print(f"  {count:4d} environments: best {1e3 * min(times):.0f}, most {1e3 * max(times):.0f}")


def ppo() -> None:
    from stable_baselines3 import PPO
    from stable_baselines3.common.vec_env import DummyVecEnv

    from spade_envs.vector.stable_baselines import StableBaselinesVecEnv

    source, count = HEADER + NUMERIC, 64

    before = workers()
    vectors = {
        "ours": StableBaselinesVecEnv(IsolatedVectorEnv(source, count, autoreset_mode="SameStep")),
        "theirs": DummyVecEnv([plain_class(source)] * count),
    }
    processes = {"ours": workers() - before, "theirs": set()}
    models = {
        name: PPO("MlpPolicy", vector, n_steps=32, batch_size=512, n_epochs=2, device="cpu", seed=0)
        for name, vector in vectors.items()
    }
    used: dict[str, list[float]] = {name: [] for name in models}
    for _ in range(12):
        for name, model in models.items():
            begin = cpu(processes[name])
            model.learn(count * 32 * 3)
            used[name].append(cpu(processes[name]) - begin)
    for vector in vectors.values():
        vector.close()
    print("\nPPO, 6,144 steps in a vector of 64, CPU seconds (best and median block)")
    for what, at in (("best", 0), ("median", 6)):
        found = {name: sorted(times)[at] for name, times in used.items()}
        ratio = found["theirs"] / found["ours"]
        print(f"  {what:6s} DummyVecEnv {found['theirs']:.3f}, ours {found['ours']:.3f}, ratio {ratio:.2f}")


def main() -> None:
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "gymnasium", "msgspec"))
    print(f"Python {sys.version.split()[0]}, {packages}")
    print(f"{platform.platform()}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}")
    parts: dict[str, Callable[[], None]] = {
        "steps": steps,
        "text": text,
        "spread": spread,
        "wall": wall,
        "async": asynchronous,
        "memory": memory,
        "rebuild": rebuild,
        "ppo": ppo,
    }
    for name in sys.argv[1:] or parts:
        parts[name]()


if __name__ == "__main__":
    main()
