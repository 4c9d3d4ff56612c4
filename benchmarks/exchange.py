"""What it costs two processes to take turns, without any isolation: ``python benchmarks/exchange.py``.

First an empty exchange by each means of the kernel's, then the same Python work done by one process alone and by two in
turns. Microseconds of CPU of both processes, best and median of blocks that take turns, since the machine is shared.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass

from isolation import cpu_of

BLOCKS, STEPS = 200, 100
MESSAGE = b"." * 40
WORK = 100
"""Additions in a loop, done by each process on its turn."""


@dataclass(frozen=True)
class Line:
    """How two processes take turns: what each does on its turn."""

    ask: Callable[[], object]
    answer: Callable[[], object]


def pipes() -> Line:
    """Two pipes, and a poll for the deadline."""
    (asked, ask), (reply, answer) = os.pipe(), os.pipe()
    poll = select.poll()
    poll.register(reply, select.POLLIN)
    return Line(
        lambda: (os.write(ask, MESSAGE), poll.poll(1000), os.read(reply, 65536)),
        lambda: os.write(answer, os.read(asked, 65536)),
    )


def sockets() -> Line:
    """A pair of sockets; the deadline is the socket's own."""
    ours, theirs = socket.socketpair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 1, 0))
    mine, its = ours.detach(), theirs.detach()
    return Line(
        lambda: (os.write(mine, MESSAGE), os.read(mine, 65536)), lambda: os.write(its, os.read(its, 65536))
    )


def counters(work: int = 0) -> Line:
    """Two kernel counters, and an edge of the reply's for the deadline."""
    asked, answered = os.eventfd(0), os.eventfd(0)
    events = select.epoll()
    events.register(answered, select.EPOLLIN | select.EPOLLET)
    return Line(
        lambda: (add(work), os.eventfd_write(asked, 1), events.poll(1, 2)),
        lambda: (os.eventfd_read(asked), add(work), os.eventfd_write(answered, 1)),
    )


def add(count: int) -> int:
    total = 0
    for number in range(count):
        total += number
    return total


def serve(line: Line) -> int:
    """Start the process that answers, and return its id."""
    process = os.fork()
    if process == 0:
        while True:
            line.answer()
    return process


def main() -> None:
    lines = {
        "pipes and poll": pipes(),
        "sockets": sockets(),
        "counters": counters(),
        "counters and work": counters(WORK),
    }
    answering = {name: serve(line) for name, line in lines.items()}
    found: dict[str, list[float]] = {name: [] for name in [*lines, "work, twice, alone"]}
    for _ in range(BLOCKS):
        for name, line in lines.items():
            before = time.process_time() + cpu_of(answering[name])
            for _ in range(STEPS):
                line.ask()
            found[name].append(time.process_time() + cpu_of(answering[name]) - before)
        before = time.process_time()
        for _ in range(STEPS):
            add(WORK), add(WORK)
        found["work, twice, alone"].append(time.process_time() - before)
    for process in answering.values():
        os.kill(process, signal.SIGKILL)
    print(f"microseconds of CPU, load {os.getloadavg()[0]:.1f}      best  median")
    for name, times in found.items():
        best, middle = sorted(times)[0], sorted(times)[BLOCKS // 2]
        print(f"  {name:32s} {1e6 * best / STEPS:7.1f} {1e6 * middle / STEPS:7.1f}")


if __name__ == "__main__":
    main()
