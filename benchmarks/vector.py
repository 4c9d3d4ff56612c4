"""Vectors of isolated environments against Gymnasium's vectors of the same classes as plain Python.

Run it with ``python benchmarks/vector.py``, with steps, text, spread, wall, async, memory, rebuild or ppo for some of
it. Figures are CPU time of host and workers together. Other work on the machine inflates every figure, so both sides
take turns in blocks, and a block of ours is compared with the two of theirs beside it: compare ratios, not two runs.
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
from statistics import quantiles
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


def paired(
    theirs: Callable[[], float], ours: Callable[[], float], blocks: int = 24
) -> list[tuple[float, float]]:
    """Return what each block of ours took, after the mean of the two blocks of theirs beside it."""
    used, last = [], theirs()
    for _ in range(blocks):
        mine, following = ours(), theirs()
        used.append(((last + following) / 2, mine))
        last = following
    return used


def best(used: list[tuple[float, float]]) -> tuple[float, float]:
    return min(theirs for theirs, _ in used), min(ours for _, ours in used)


def told(used: list[tuple[float, float]]) -> str:
    """Return theirs by ours: the median with its quartiles, and of the best blocks."""
    low, middle, high = quantiles((theirs / ours for theirs, ours in used), n=4)
    theirs, ours = best(used)
    return f"{middle:5.2f} [{low:.2f}, {high:.2f}]   best {theirs / ours:5.2f}"


def compare(name: str, source: str, count: int, workers_of: int | None = None) -> None:
    """Print what a step costs, and the ratio of each block of ours to the blocks of Gymnasium's beside it."""
    before = workers()
    ours = IsolatedVectorEnv(source, count, workers=workers_of)
    own = workers() - before
    theirs = SyncVectorEnv([plain_class(source)] * count)
    steps = max(8, 400 // max(1, count // 8))
    actions = list(np.random.default_rng(0).integers(0, ours.single_action_space.n, (steps, count)))
    for vector in (ours, theirs):
        vector.reset(seed=0)
        vector.step(actions[0])
    gc.collect()
    used = paired(lambda: block(theirs, actions, set()), lambda: block(ours, actions, own))
    each = [1e6 * time / steps / count for time in best(used)]
    print(f"  {name:22s} {count:5d} {len(own):3d}   {each[0]:7.2f} {each[1]:7.2f}   {told(used)}")
    ours.close()


def steps(names: tuple[str, ...] = ("box", "oasis_walk", "lamp_row", "maze_key")) -> None:
    print(
        "\nmicroseconds of CPU for each environment's step (best blocks); Gymnasium's by ours, each block by those"
    )
    print("beside it: median [quartiles]; and best block by best block")
    print("                              N  workers  Gymnasium  ours   ratio  best")
    for name in names:
        source = HEADER + NUMERIC if name == "box" else (seeds_folder() / f"{name}.py").read_text()
        for count in (1, 8, 64, 1024):
            compare(name, source, count)


def text() -> None:
    print("\nthe same with observations of text")
    compare("text of 90 characters", HEADER + TEXT, 64)


def spread() -> None:
    print("\nthe same 1,024 boxes in fewer workers and in more")
    for count in (1, 2, 4, 8):
        compare("box", HEADER + NUMERIC, 1024, count)


def wall() -> None:
    """Wall time with two workers: a figure of two free cores, and of nothing where other work runs on them."""
    source, count, steps = HEADER + NUMERIC, 1024, 12
    ours, theirs = IsolatedVectorEnv(source, count, workers=2), SyncVectorEnv([plain_class(source)] * count)
    actions = np.zeros(count, int)

    def taken(vector: Any) -> float:
        begin = time.perf_counter()
        for _ in range(steps):
            vector.step(actions)
        return time.perf_counter() - begin

    for vector in (ours, theirs):
        vector.reset(seed=0)
    used = paired(lambda: taken(theirs), lambda: taken(ours))
    ours.close()
    each = [1e6 * time / steps / count for time in best(used)]
    print("\nmicroseconds of wall for each environment's step, two workers, N = 1,024 (best blocks)")
    print(f"  Gymnasium {each[0]:7.2f}  ours {each[1]:7.2f}   {told(used)}")


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
    walls: dict[str, list[float]] = {"ours": [], "theirs": []}

    def taken(name: str, vector: Any) -> float:
        cpu_before, wall = cpu_of_all(os.getpid()), time.perf_counter()
        for _ in range(steps):
            vector.step(batch)
        walls[name].append(time.perf_counter() - wall)
        return cpu_of_all(os.getpid()) - cpu_before

    for vector in (ours, theirs):
        vector.reset(seed=0)
    used = paired(lambda: taken("theirs", theirs), lambda: taken("ours", ours), 8)
    beside = zip(walls["theirs"], walls["theirs"][1:], strict=False)
    walled = [((one + other) / 2, ours) for (one, other), ours in zip(beside, walls["ours"], strict=True)]
    for what, found in (("CPU", used), ("wall", walled)):
        each = [1e6 * time / steps / count for time in best(found)]
        print(f"  {what:4s} theirs {each[0]:8.1f}  ours {each[1]:7.1f}   {told(found)}")
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

    def learnt(name: str) -> float:
        begin = cpu(processes[name])
        models[name].learn(count * 32 * 3)
        return cpu(processes[name]) - begin

    used = paired(lambda: learnt("theirs"), lambda: learnt("ours"), 12)
    for vector in vectors.values():
        vector.close()
    print("\nPPO, 6,144 steps in a vector of 64, CPU seconds (best blocks)")
    print(f"  DummyVecEnv {best(used)[0]:.3f}  ours {best(used)[1]:.3f}   {told(used)}")


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
