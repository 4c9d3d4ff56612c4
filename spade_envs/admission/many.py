"""Several designs judged at once, by processes that live as long as there is work.

They are processes and not threads so that they can be stopped at any moment, with their workers, and so that a
host that dies of a design costs the verdict on that design alone. A judge's own code runs no design; it starts
workers as the caller's process does.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Generator, Sequence
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any

from spade_envs.admission.judging import judge
from spade_envs.admission.report import Report
from spade_envs.errors import IsolationError, SpadeError
from spade_envs.isolation.bond import Bond

Verdict = Report | SpadeError
"""What became of a design; an error where the machine could not judge it."""


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def judge_many(
    sources: Sequence[str], *, jobs: int | None = None, **options: Any
) -> Generator[tuple[int, Verdict], None, None]:
    """Judge designs and yield each one's place and verdict, as they come to be known.

    Closing the iterator stops the judges and their workers.

    Args:
        sources: whole files.
        jobs: how many are judged at once; as many as there are cores where missing. One is judged here.
        options: as for :func:`judge`.
    """
    count = min(jobs or cores(), len(sources))
    if count > 1:
        yield from _shared_out(sources, count, options)
        return
    for place, source in enumerate(sources):
        yield place, judged(source, options)


def judged(source: str, options: dict[str, Any]) -> Verdict:
    """Judge a design; an error of the machine's is a value, too."""
    try:
        return judge(source, **options)
    except SpadeError as error:
        return error


def _shared_out(
    sources: Sequence[str], count: int, options: dict[str, Any]
) -> Generator[tuple[int, Verdict], None, None]:
    waiting = iter(enumerate(sources))
    busy: dict[Connection, _Judge] = {}
    known: list[tuple[int, Verdict]] = []
    with contextlib.ExitStack() as stack:
        idle = [stack.enter_context(_Judge()) for _ in range(count)]
        while True:
            for free, task in zip(idle, waiting, strict=False):
                member = free if free.lives else stack.enter_context(_Judge())
                busy[member.connection] = member
                member.ask(*task, options)
            yield from known  # after the next ones have been handed out: whoever reads may take long
            if not busy:
                return
            answered = wait(list(busy))
            idle = [busy.pop(connection) for connection in list(busy) if connection in answered]
            known = [(member.place, member.answer()) for member in idle]


class _Judge:
    """The handle of one judging process."""

    def __init__(self) -> None:
        self.connection, theirs = Pipe()
        self.place, self.lives = -1, True
        self._bond = Bond()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "spade_envs.admission.judging_process", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno(), self._bond.theirs],
                process_group=0,  # a terminal's interrupt is the caller's to handle
                env=_environment(),
            )
        self._bond.hold(self._process.pid)

    def __enter__(self) -> _Judge:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()  # its workers go with it
        self._process.wait()
        self._bond.close()
        self.connection.close()

    def ask(self, place: int, source: str, options: dict[str, Any]) -> None:
        """Give it a design to judge; where it has died meanwhile, its answer says so."""
        self.place = place
        with contextlib.suppress(BrokenPipeError, ConnectionError):
            self.connection.send((source, options))

    def answer(self) -> Verdict:
        """Return the verdict on what it was asked for."""
        try:
            verdict: Verdict = self.connection.recv()
        except (EOFError, ConnectionError):
            self.lives = False
            self._process.kill()
            status = self._process.wait()
            return IsolationError(
                f"the process that judged this design died (status {status}); try it again alone"
            )
        return verdict


def _environment() -> dict[str, str]:
    paths = os.pathsep.join(map(os.path.abspath, sys.path))
    return {**os.environ, "PYTHONPATH": paths, "SPADE_REGISTER": "0"}
