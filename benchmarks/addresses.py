"""What it costs two processes on one core that the same libraries lie at different addresses in them.

Run it with ``python benchmarks/addresses.py``, and once more with ``setarch -R`` before that, which switches the
randomising of addresses off. One process does a piece of work with NumPy, alone and each time after another process
has answered: one that does nothing, one that does such a piece, too; forked, with the same addresses, or started anew.
Microseconds of the first one's piece: best and median of blocks that take turns.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from statistics import median

import numpy as np

BLOCKS, TIMES = 60, 300
DATA, ZEROS = bytes(range(64)), np.zeros(8, np.float32)


def piece() -> int:
    """Do what a step does: read bytes, check, copy, put a few small arrays together."""
    read = np.frombuffer(DATA, np.float32).copy()
    finite = bool(np.isfinite(read).all())
    flags = np.zeros(4, bool)
    flags[1] = finite
    actions = np.asarray([1])
    inside = bool((actions >= 0).all() and (actions < 2).all())
    said = {"read": read, "any": bool(flags.any()), "inside": inside}
    return int(np.concatenate([said["read"], ZEROS]).size)


def nothing() -> None:
    """Do nothing."""


WORK: dict[str, Callable[[], object]] = {"nothing": nothing, "a piece": piece}


def serve(work: Callable[[], object], asked: int, answered: int) -> None:
    while os.read(asked, 1):
        work()
        os.write(answered, b"x")


class Peer:
    """Another process, which works each time that it is asked."""

    def __init__(self, name: str, fork: bool) -> None:
        asked, self._ask = os.pipe()
        self._answer, answered = os.pipe()
        if fork:
            if os.fork() == 0:
                os.close(self._ask)
                serve(WORK[name], asked, answered)
                os._exit(0)
        else:
            command = [sys.executable, __file__, name, str(asked), str(answered)]
            self._process = subprocess.Popen(command, pass_fds=(asked, answered))
        os.close(asked)
        os.close(answered)

    def block(self) -> float:
        """Return the microseconds of a piece that is done after each answer."""
        took = 0.0
        for _ in range(TIMES):
            os.write(self._ask, b"x")
            os.read(self._answer, 1)
            begin = time.perf_counter()
            piece()
            took += time.perf_counter() - begin
        return 1e6 * took / TIMES


def alone() -> float:
    begin = time.perf_counter()
    for _ in range(TIMES):
        piece()
    return 1e6 * (time.perf_counter() - begin) / TIMES


def main() -> None:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    if len(sys.argv) > 1:
        return serve(WORK[sys.argv[1]], int(sys.argv[2]), int(sys.argv[3]))
    # Those that are started anew first: a forked one keeps open whatever pipes there are.
    peers = {(name, fork): Peer(name, fork) for fork in (False, True) for name in WORK}
    variants = {("alone", ""): alone} | {
        (f"after {name}", "of a fork" if fork else "of a process started anew"): peer.block
        for (name, fork), peer in peers.items()
    }
    for run in variants.values():
        run()
    found: dict[tuple[str, str], list[float]] = {name: [] for name in variants}
    for _ in range(BLOCKS):
        for name, run in variants.items():
            found[name].append(run())
    print(f"Python {sys.version.split()[0]}, numpy {np.__version__}, load {os.getloadavg()[0]:.1f}")
    for (what, whose), times in found.items():
        print(f"  {what + ' ' + whose:42s} {min(times):6.1f} {median(times):6.1f}")
    os._exit(0)  # the others see their pipes closed


if __name__ == "__main__":
    main()
