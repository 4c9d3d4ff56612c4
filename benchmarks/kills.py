"""Whether killing workers leaves anything behind: ``python benchmarks/kills.py [KILLS]``, 10,000 by default.

Each worker is killed at its deadline or by its design's death, in turn: an endless reset, a memory bomb, a step that
never ends. Every thousand kills are followed by a line with what this process and its zygote hold.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from isolation import DISCRETE, HEADER, children

from spade_envs.errors import WorkerFault
from spade_envs.isolation import Limits, Quarantine, Worker, WorkerPool

DESIGNS = [
    HEADER + DISCRETE.replace("self._at = 0\n", "self._at = 0\n        while True:\n            pass\n"),
    HEADER + DISCRETE.replace("self._at = 0\n", "self._at = bytearray(10 ** 10)\n"),
    HEADER
    + DISCRETE.replace("return self._at, 0.0", "while True:\n            pass\n        return self._at, 0.0"),
]
LIMITS = Limits(call_s=0.02)


def held(process: int) -> str:
    """What a process holds: descriptors, megabytes, child processes, mappings of shared memory."""
    folder = Path(f"/proc/{process}")
    memory = int((folder / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20
    shared = (folder / "maps").read_text().count("memfd:spade")
    return (
        f"{len(os.listdir(folder / 'fd'))} descriptors, {memory} MB, {len(children(process))} children, "
        f"{shared} shared mappings"
    )


def kill(pool: WorkerPool, source: str) -> str:
    """Let a design kill its worker and return the kind of fault."""
    worker = pool.take(source)
    assert isinstance(worker, Worker)
    try:
        worker.make()
        worker.reset(0, 0)
        worker.step(0, 0)
    except WorkerFault as fault:
        return fault.kind
    finally:
        worker.close()
    return "none"


def main() -> None:
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    kinds: dict[str, int] = {}
    begin = time.monotonic()
    with WorkerPool(LIMITS, spares=1, quarantine=Quarantine(10**9)) as pool:
        for count in range(kills + 1):
            if count % max(1, kills // 10) == 0:
                (zygote,) = children(os.getpid())
                time.sleep(0.2)  # the last ones are being reaped
                print(f"{count:6d} kills, {time.monotonic() - begin:5.0f} s: host {held(os.getpid())}; "
                      f"zygote {held(zygote)}", flush=True)  # fmt: skip
            kind = kill(pool, DESIGNS[count % len(DESIGNS)])
            kinds[kind] = kinds.get(kind, 0) + 1
    print(f"faults: {kinds}")


if __name__ == "__main__":
    main()
