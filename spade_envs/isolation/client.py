"""The process that runs a container for this one: ``bwrap`` itself, or the client of Podman or Docker."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from spade_envs.errors import IsolationError

REAP_S = 1.0
"""How long a killed process is waited for before it is left to a thread."""
_SAID_BYTES = 2000


@dataclass(frozen=True, slots=True)
class Ending:
    """How a client ended.

    Attributes:
        status: its exit status, None where it was killed.
        said: the last that it said on standard error.
    """

    status: int | None
    said: str


class Client:
    """A started command, in a process group of its own: a terminal's interrupt is the host's to handle.

    Args:
        command: what to start, found on the search path.
        variables: its environment.
        kill: the command that ends what it runs, where its own end does not.

    Attributes:
        requests: the end of a pipe that is its standard input.
        replies: the end of a pipe that is its standard output.

    Raises:
        IsolationError: it cannot be started.
    """

    def __init__(self, command: list[str], variables: dict[str, str], kill: list[str] | None = None) -> None:
        self._kill = kill
        self._errors = os.memfd_create("spade-errors", os.MFD_CLOEXEC)
        with _lock:
            theirs, self.requests = os.pipe()
            self.replies, their_end = os.pipe()
            try:
                self._pid = _spawn(command, variables, (theirs, their_end, self._errors))
            except OSError as error:
                for descriptor in (self.requests, self.replies, self._errors):
                    os.close(descriptor)
                raise IsolationError(f"{command[0]} cannot be started: {error.strerror}") from None
            finally:
                os.close(theirs)
                os.close(their_end)

    def end(self, patience_s: float = 0.0) -> Ending:
        """End it and what it runs, after waiting this long whether it ends by itself."""
        status = self._wait(patience_s)
        if status is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._pid, signal.SIGKILL)
            if self._wait(REAP_S) is None:
                _reap_later(self._pid)
        ending = Ending(
            os.WEXITSTATUS(status) if status is not None and os.WIFEXITED(status) else None, self._said()
        )
        if self._kill and ending.status is None:
            with contextlib.suppress(OSError, RuntimeError):
                _reap_later(_spawn(self._kill, dict(os.environ), ()))
        self.abandon()
        return ending

    def _said(self) -> str:
        size = os.fstat(self._errors).st_size
        text = os.pread(self._errors, _SAID_BYTES, max(0, size - _SAID_BYTES))
        return text.decode("utf-8", "replace").strip()

    def abandon(self) -> None:
        """Let go of it without waiting, once its pipes are closed. In a forked child the parent's lives on."""
        os.close(self._errors)

    def _wait(self, seconds: float) -> int | None:
        """Return the wait status if it ends in time."""
        ended = os.pidfd_open(self._pid)
        try:
            if not select.select([ended], [], [], seconds)[0]:
                return None
        finally:
            os.close(ended)
        return os.waitpid(self._pid, 0)[1]


def _spawn(command: list[str], variables: dict[str, str], standard: Sequence[int]) -> int:
    """Start a command with these descriptors as its standard ones, the null device where there are none.

    A runtime that is told to die with its parent dies with the thread that started it: that one must stay.
    """
    null = [(os.POSIX_SPAWN_OPEN, at, os.devnull, os.O_RDWR, 0) for at in range(len(standard), 3)]
    actions = [*((os.POSIX_SPAWN_DUP2, end, at) for at, end in enumerate(standard)), *null]
    call = _starter.submit(os.posix_spawnp, command[0], command, variables, file_actions=actions, setpgroup=0)
    return call.result()


def _reap_later(process: int) -> None:
    def reap() -> None:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(process, 0)

    with contextlib.suppress(RuntimeError):  # the interpreter ends: nothing is left to be reaped
        threading.Thread(target=reap, daemon=True).start()


def _after_fork_in_child() -> None:
    global _starter
    _starter = ThreadPoolExecutor(1)
    _lock.release()


_starter = ThreadPoolExecutor(1)
# Held while a container's ends are open in the host, so that no fork in another thread inherits them.
_lock = threading.RLock()
os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_after_fork_in_child)
