"""Tasks done side by side, by processes that live as long as there is work.

They are processes and not threads so that they can be stopped at any moment, with their workers, and so that a
host that dies of a design costs the outcome of that task alone. A helper's own code runs no design; it starts
workers as the caller's process does.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Generator, Sequence
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any, TypeVar

from spade_envs.errors import IsolationError, SpadeError
from spade_envs.isolation.bond import Bond

Result = TypeVar("Result")


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def side_by_side(
    function: Callable[..., Result], tasks: Sequence[tuple[Any, ...]], jobs: int | None = None
) -> Generator[tuple[int, Result | SpadeError], None, None]:
    """Call a function with the arguments of each task; yield each one's place and result, as they come to be known.

    Closing the iterator stops the helpers and their workers.

    Args:
        function: of a module, so that other processes can import it; what it takes and returns can be pickled.
        tasks: the arguments of each call.
        jobs: how many are done at once; as many as there are cores where missing. One is done here.
    """
    count = min(jobs or cores(), len(tasks))
    if count > 1:
        yield from _shared_out(function, tasks, count)
        return
    for place, arguments in enumerate(tasks):
        yield place, attempt(function, arguments)


def attempt(function: Callable[..., Result], arguments: tuple[Any, ...]) -> Result | SpadeError:
    """Call a function; an error of the machine's is a value, too."""
    try:
        return function(*arguments)
    except SpadeError as error:
        return error


def _shared_out(
    function: Callable[..., Result], tasks: Sequence[tuple[Any, ...]], count: int
) -> Generator[tuple[int, Result | SpadeError], None, None]:
    waiting = iter(enumerate(tasks))
    busy: dict[Connection, _Helper] = {}
    known: list[tuple[int, Any]] = []
    with contextlib.ExitStack() as stack:
        idle = [stack.enter_context(_Helper()) for _ in range(count)]
        while True:
            for free, (place, arguments) in zip(idle, waiting, strict=False):
                member = free if free.lives else stack.enter_context(_Helper())
                busy[member.connection] = member
                member.ask(place, function, arguments)
            yield from known  # after the next ones have been handed out: whoever reads may take long
            if not busy:
                return
            answered = wait(list(busy))
            idle = [busy.pop(connection) for connection in list(busy) if connection in answered]
            known = [(member.place, member.answer()) for member in idle]


class _Helper:
    """The handle of one process."""

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

    def __enter__(self) -> _Helper:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()  # its workers go with it
        self._process.wait()
        self._bond.close()
        self.connection.close()

    def ask(self, place: int, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        """Give it a task; where it has died meanwhile, its answer says so."""
        self.place = place
        with contextlib.suppress(BrokenPipeError, ConnectionError):
            self.connection.send((function, arguments))

    def answer(self) -> Any:
        """Return the result of what it was asked for."""
        try:
            return self.connection.recv()
        except (EOFError, ConnectionError):
            self.lives = False
            self._process.kill()
            status = self._process.wait()
            return IsolationError(
                f"the process that judged this design died (status {status}); try it again alone"
            )


def _environment() -> dict[str, str]:
    paths = os.pathsep.join(map(os.path.abspath, sys.path))
    return {**os.environ, "PYTHONPATH": paths, "SPADE_REGISTER": "0"}
