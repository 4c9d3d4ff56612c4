"""What isolation costs: CPU time of one step, host and worker together, and the time to start a worker.

Run it with ``python benchmarks/isolation.py``. Other work on the machine inflates every figure, so the variants take
turns in short blocks and each reports its best block and the median: compare the columns, not two runs. ``floor`` is a
process that answers one kernel counter by another, under the same deadline, and does nothing else: what no isolation by
process can go below.
"""

from __future__ import annotations

import multiprocessing
import os
import platform
import select
import signal
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from spade_envs import IsolatedEnv, seeds_folder
from spade_envs.isolation import Worker

BLOCKS, STEPS = 150, 100
HEADER = """\
# /// spade
# id = "spade/Benchmark-v0"
# title = "Benchmark"
# summary = "A small environment for timing."
# domain = "games"
# skills = ["waiting"]
# origin = "seed"
# max_episode_steps = 1000
# license = "Apache-2.0"
# contract = 1
# ///
"""
NUMERIC = '''
import gymnasium as gym
import numpy as np
from gymnasium import spaces


class Walk(gym.Env):
    """Walk on a ring of cells and see which ones you visited."""

    def __init__(self, render_mode=None):
        self.render_mode = render_mode
        self.action_space = spaces.Discrete(2)
        self.observation_space = spaces.Box(0, 1, (8,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._at, self._seen = 0, np.zeros(8, np.float32)
        return self._seen.copy(), {}

    def step(self, action):
        self._at = (self._at + (1 if action else -1)) % 8
        self._seen[self._at] = 1 - self._seen[self._at]
        won = self._seen.sum() > 8
        return self._seen.copy(), 0.0, bool(won), False, {"is_success": bool(won)}

    def hint(self):
        return "Walk."

    def expert_action(self):
        return 1
'''
DISCRETE = '''
import gymnasium as gym
from gymnasium import spaces


class Ring(gym.Env):
    """Walk on a ring of cells."""

    def __init__(self, render_mode=None):
        self.render_mode = render_mode
        self.action_space = spaces.Discrete(2)
        self.observation_space = spaces.Discrete(8)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._at = 0
        return self._at, {}

    def step(self, action):
        self._at = (self._at + (1 if action else -1)) % 8
        return self._at, 0.0, False, False, {"is_success": False}

    def hint(self):
        return "Walk."

    def expert_action(self):
        return 1
'''


def cpu_of(process: int) -> float:
    """CPU seconds that a process has used; finer than /proc/PID/stat."""
    return int(Path(f"/proc/{process}/schedstat").read_text().split()[0]) / 1e9


def children(process: int) -> set[int]:
    return {int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()}


def plain(source: str) -> Any:
    namespace: dict[str, Any] = {}
    exec(compile(source, "plain", "exec"), namespace)
    kind = next(value for value in namespace.values() if hasattr(value, "expert_action"))
    environment = kind()
    environment.reset(seed=0)
    return environment


def pickling_server(connection: Connection, source: str) -> None:
    environment = plain(source)
    while True:
        connection.send(environment.step(connection.recv()))


class Floor:
    """A process that answers and does nothing else."""

    def __init__(self) -> None:
        self._asked, answered = os.eventfd(0), os.eventfd(0)
        self.process = os.fork()
        if self.process == 0:
            while True:
                os.eventfd_read(self._asked)
                os.eventfd_write(answered, 1)
        self._events = select.epoll()
        self._events.register(answered, select.EPOLLIN | select.EPOLLET)

    def step(self, _: int) -> None:
        os.eventfd_write(self._asked, 1)
        self._events.poll(1, 2)

    def close(self) -> None:
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)


def measure(variants: dict[str, tuple[Callable[[int], Any], int | None]]) -> dict[str, list[float]]:
    """Microseconds of CPU per step, by variant, sorted: its step function, and the other process it keeps busy."""
    found: dict[str, list[float]] = {name: [] for name in variants}
    for _ in range(BLOCKS):
        for name, (step, other) in variants.items():
            before = time.process_time() + (cpu_of(other) if other else 0)
            for count in range(STEPS):
                step(count & 1)
            used = time.process_time() + (cpu_of(other) if other else 0) - before
            found[name].append(used / STEPS * 1e6)
    return {name: sorted(values) for name, values in found.items()}


def steps(title: str, source: str) -> None:
    floor = Floor()
    ours, theirs = multiprocessing.get_context("fork").Pipe()
    server = multiprocessing.get_context("fork").Process(
        target=pickling_server, args=(theirs, source), daemon=True
    )
    server.start()

    def pickled(action: int) -> None:
        ours.send(action)
        ours.recv()

    zygote_children = {child for zygote in children(os.getpid()) for child in children(zygote)}
    environment = IsolatedEnv(HEADER + source)
    workers = {child for zygote in children(os.getpid()) for child in children(zygote)} - zygote_children
    environment.reset(seed=0)
    local = IsolatedEnv(HEADER + source, isolation="none")
    local.reset(seed=0)
    bare = plain(source)
    best = measure(
        {
            "plain class": (bare.step, None),
            "floor": (floor.step, floor.process),
            "Pipe + pickle": (pickled, server.pid),
            "isolated": (environment.step, next(iter(workers))),
            'isolation="none"': (local.step, None),
        }
    )
    print(f"\none step, {title}: microseconds of CPU, host and worker together")
    print("                       best  median   best / floor   best / pickle")
    for name, values in best.items():
        low, floor_, pickle_ = values[0], best["floor"][0], best["Pipe + pickle"][0]
        print(
            f"  {name:18s} {low:7.1f} {values[len(values) // 2]:7.1f}   {low / floor_:9.2f} {low / pickle_:15.2f}"
        )
    environment.close()
    server.terminate()
    floor.close()


def starts() -> None:
    times = []
    for _ in range(BLOCKS):
        begin = time.perf_counter()
        worker = Worker.start()
        worker.load(HEADER + DISCRETE)
        worker.make()
        worker.reset(0, 0)
        worker.step(0, 0)
        times.append(time.perf_counter() - begin)
        worker.close()
    times.sort()
    print(
        f"\nzygote to first step: best {1e3 * times[0]:.1f} ms, median {1e3 * times[len(times) // 2]:.1f} ms"
    )


def compiling() -> None:
    """Milliseconds until a worker holds the code of a seed: compiled anew, and known to this process."""
    sources = [path.read_text() for path in sorted(seeds_folder().glob("*.py"))]
    # A remark that no run has made before keeps the cache from knowing the source.
    anew = [min(load_time(f"{source}# {time.time_ns()}\n") for _ in range(5)) for source in sources]
    known = [min(load_time(source) for _ in range(5)) for source in sources]
    for what, times in (("compiled anew", sorted(anew)), ("known", sorted(known))):
        middle = times[len(times) // 2]
        print(f"code of {len(times)} seeds, {what}: median {middle:.2f} ms, most {times[-1]:.2f} ms")


def load_time(source: str) -> float:
    """In a worker that is up and idle."""
    worker = Worker.start()
    worker.memory()
    begin = time.perf_counter()
    worker.load(source)
    taken = time.perf_counter() - begin
    worker.close()
    return 1e3 * taken


def main() -> None:
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "gymnasium", "msgspec"))
    print(f"Python {sys.version.split()[0]}, {packages}")
    print(f"{platform.platform()}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}")
    steps("a Discrete observation", DISCRETE)
    steps("a Box of 8 float32", NUMERIC)
    starts()
    compiling()


if __name__ == "__main__":
    main()
