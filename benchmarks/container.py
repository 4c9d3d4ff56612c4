"""What a container costs: the time from nothing to a worker's first step, and of a step, against the process worker.

    python benchmarks/container.py [TURNS]

The kinds take turns, so that other work on the machine disturbs all alike: compare the columns, not two runs. The
runtime is the one that `isolation="container"` would take; ``SPADE_CONTAINER`` names another.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time

from spade_envs import seeds_folder
from spade_envs.isolation import Limits, Worker
from spade_envs.isolation.container_commands import find_runtime
from spade_envs.isolation.host import Isolation

STEPS = 500
LIMITS = Limits(build_s=60, call_s=60)
KINDS: tuple[Isolation, ...] = ("process", "container")


def turn(kind: Isolation, source: str) -> tuple[float, float]:
    """Milliseconds to the first step, and microseconds of one of the steps after it."""
    begin = time.perf_counter()
    worker = Worker.start(LIMITS, isolation=kind)
    worker.load(source)
    space = worker.make().action_space
    worker.reset(0, 0)
    action = space.sample()
    worker.step(0, action)
    first = time.perf_counter()
    for _ in range(STEPS):
        worker.step(0, action)
    stepped = time.perf_counter()
    worker.close()
    return 1e3 * (first - begin), 1e6 * (stepped - first) / STEPS


def main() -> None:
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    source = (seeds_folder() / "lamp_row.py").read_text()
    runtime = find_runtime()
    said = subprocess.run([runtime, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    print(f"Python {platform.python_version()}, {said}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}")
    begin = time.perf_counter()
    Worker.start(LIMITS).close()
    print(f"the zygote, once for all process workers: {1e3 * (time.perf_counter() - begin):.0f} ms")
    times: dict[Isolation, list[tuple[float, float]]] = {kind: [] for kind in KINDS}
    for _ in range(turns):
        for kind in KINDS:
            times[kind].append(turn(kind, source))
    print(f"{'':10s} first step, ms (best, median)   one step, µs (best, median)")
    for kind, rows in times.items():
        starts, steps = (sorted(column) for column in zip(*rows, strict=True))
        middle = turns // 2
        print(f"{kind:10s} {starts[0]:13.0f} {starts[middle]:8.0f} {steps[0]:22.0f} {steps[middle]:8.0f}")


if __name__ == "__main__":
    main()
