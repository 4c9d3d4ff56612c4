"""What the kernel says about processes, and what becomes of a call that may fail."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from spade_envs.errors import WorkerFault
from spade_envs.isolation import fork_server

OLDER: set[int] = set()
"""Workers that lived when the test began; a fixture of the isolation tests fills it."""


def children(process: int | None = None) -> list[int]:
    """Child processes that live or wait to be reaped."""
    process = process or os.getpid()
    found: list[int] = []
    for task in Path(f"/proc/{process}/task").iterdir():
        found += map(int, (task / "children").read_text().split())
    return found


def zygote() -> int:
    """The zygote that workers are forked from where nothing else is asked for."""
    return fork_server._zygotes[0]._pid


def all_workers() -> list[int]:
    """All workers of this process's zygotes."""
    return [worker for zygote in children() for worker in children(zygote) if is_zygote(zygote)]


def workers() -> list[int]:
    """Those that are no older than the test: one that judging keeps for the next design may be."""
    return [worker for worker in all_workers() if worker not in OLDER]


def is_zygote(process: int) -> bool:
    return b"spade_envs.isolation.zygote" in command_line(process)


def command_line(process: int) -> bytes:
    """What it was started by; nothing where it has ended meanwhile."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def descriptors(process: int | None = None) -> int:
    return len(os.listdir(f"/proc/{process or os.getpid()}/fd"))


def lives(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def eventually(condition: Callable[[], bool], seconds: float = 10) -> bool:
    """Whether the condition comes true in time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def settle() -> None:
    """Wait until all that is left of closed workers is gone: a zygote reaps one before it closes its descriptors."""
    assert eventually(lambda: not workers())
    time.sleep(0.2)


def outcome(call: Callable[..., Any], *arguments: Any) -> Any:
    """Return the call's result, or the fault that it raised."""
    try:
        return call(*arguments)
    except WorkerFault as fault:
        return fault
