"""The host's end of a worker: one message there and one back, under a deadline."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import sys
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn, Protocol

from spade_envs.errors import IsolationError, WorkerFault
from spade_envs.isolation.limits import Limits
from spade_envs.isolation.mailbox import Mailbox, MailboxError
from spade_envs.isolation.session import Session
from spade_envs.isolation.wire import STATUS_BYTES

_LOOKS = 8  # how often in the time of one call a worker's progress is looked at
STATUS_WAIT_S = 0.1
"""How long a killed worker's wait status is waited for: it is worth a better message, not more."""


def check_platform(isolation: str) -> None:
    """Raise IsolationError where this system has no processes for an isolation."""
    if sys.platform != "linux" or not sys.executable:
        raise IsolationError(
            f"isolation={isolation!r} needs Linux and a Python executable. "
            "For code that you trust there is isolation='none'."
        )


class Channel(Protocol):
    """How the host talks to one worker.

    Attributes:
        alive: whether the worker can be asked.
        places: memory in which the worker leaves observations; None where they stand in its replies.
    """

    alive: bool
    places: memoryview | None

    def exchange(self, message: bytes, seconds: float, call: str) -> bytes:
        """Send a message and return the reply.

        Raises:
            WorkerFault: no reply in time, none that may be read, or the worker died. It is gone then.
        """

    def post(self, message: bytes, call: str) -> None:
        """Send a message whose reply :meth:`collect` returns; meanwhile other workers may be asked."""

    def collect(self, patience: Patience, call: str) -> bytes:
        """Return the reply to what was posted. Raises as :meth:`exchange` does."""

    def close(self) -> None:
        """End the worker. Safe to call again."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a reply to many calls at once is waited for.

    Attributes:
        each_s: seconds that one of the calls may take: without progress so long, the worker is stopped.
        count: how many calls; all together have the time of so many, and one more.
        progress: the number of the call that is at work, as the worker says; None where it cannot be seen.
    """

    each_s: float
    count: int = 1
    progress: Callable[[], int] | None = None

    @property
    def total_s(self) -> float:
        """Seconds for all: a worker that lies about its progress gets no more."""
        return self.each_s * (self.count + 1)


class Sequential:
    """The second half of a channel for those that ask and wait at once."""

    _posted = b""

    def post(self, message: bytes, call: str) -> None:  # noqa: ARG002
        """See :class:`Channel`."""
        self._posted = message

    def collect(self, patience: Patience, call: str) -> bytes:
        """See :class:`Channel`."""
        return self.exchange(self._posted, patience.total_s, call)

    def exchange(self, message: bytes, seconds: float, call: str) -> bytes:
        """See :class:`Channel`."""
        raise NotImplementedError


class LocalChannel(Sequential):
    """A worker without isolation or deadlines, in the host's own process, for designs that are trusted."""

    def __init__(self, limits: Limits) -> None:
        self.places: memoryview | None = None
        self._session = Session(limits)
        self.alive = True

    def exchange(self, message: bytes, seconds: float, call: str) -> bytes:  # noqa: ARG002
        """Carry the message out here and now."""
        if not self.alive:
            raise WorkerFault("closed", f"{call}: the worker is closed")
        return self._session.answer(message)

    def close(self) -> None:
        """Forget the design and its instances."""
        if self.alive:
            self.alive = False
            del self._session


class ForkedChannel:
    """An isolated worker process that a zygote forked. Not for use by two threads at once.

    Messages lie in shared memory; two counters of the kernel's (eventfd) say that one has been put there. The
    host waits for an edge of the worker's counter and never reads it: that saves a system call for each step.

    Args:
        mailbox: the host's view of the shared memory.
        asked: counter that tells the worker of a request.
        answered: counter that tells the host of a reply.
        lease: descriptor of the socket whose closing makes the zygote kill the worker, and on which the zygote
            says the worker's wait status.
        limits: the worker's limits.
    """

    alive = False

    def __init__(self, mailbox: Mailbox, asked: int, answered: int, lease: int, limits: Limits) -> None:
        self.places: memoryview | None = mailbox.places
        self._mailbox, self._most = mailbox, limits.message_bytes
        self._asked, self._answered, self._lease = asked, answered, lease
        self._number = 0
        self._events = select.epoll(2)
        self._events.register(answered, select.EPOLLIN | select.EPOLLET)
        self._events.register(lease, select.EPOLLIN)
        self.alive = True
        track(self)

    def exchange(self, message: bytes, seconds: float, call: str) -> bytes:
        """See :class:`Channel`."""
        self.post(message, call)
        return self._collected(seconds, call, None)

    def post(self, message: bytes, call: str) -> None:
        """See :class:`Channel`."""
        if not self.alive:
            raise WorkerFault("closed", f"{call}: the worker is gone")
        if len(message) > self._most:
            raise WorkerFault("contract", f"{call}: a request of {len(message):,} bytes is too long to send")
        self._number += 1
        try:
            self._mailbox.ask(self._number, message)
            os.eventfd_write(self._asked, 1)
        except BaseException:  # an interrupted exchange leaves a reply that would answer the next request
            self.close()
            raise

    def collect(self, patience: Patience, call: str) -> bytes:
        """See :class:`Channel`."""
        if not self.alive:
            raise WorkerFault("closed", f"{call}: the worker is gone")
        if patience.progress is None:
            return self._collected(patience.total_s, call, None)
        return self._collected(patience.each_s / _LOOKS, call, patience)

    def _collected(self, seconds: float, call: str, patience: Patience | None) -> bytes:
        try:
            events = self._events.poll(seconds, 2)
            if not events and patience is not None:
                seconds = patience.each_s
                events = self._awaited(patience)
        except BaseException:
            self.close()
            raise
        if not events or (events[0][0] != self._answered and len(events) < 2):
            self._mourn(bool(events), seconds, call)
        try:
            return self._mailbox.answered(self._number)
        except MailboxError as error:
            self.close()
            raise WorkerFault("protocol", f"{call}: {error}") from None

    def _awaited(self, patience: Patience) -> list[tuple[int, int]]:
        """Wait on while the worker gets on: each of its calls has the time of one."""
        assert patience.progress is not None
        end = time.monotonic() + patience.total_s
        seen, looks = patience.progress(), 0
        while looks < _LOOKS and time.monotonic() < end:
            if events := self._events.poll(patience.each_s / _LOOKS, 2):
                return events
            now = patience.progress()
            seen, looks = now, (looks + 1 if now == seen else 0)
        return []

    def _mourn(self, dead: bool, seconds: float, call: str) -> NoReturn:
        status = self._end()
        if not dead:
            raise WorkerFault("timeout", f"{call} took longer than {seconds:.3g} s and was stopped")
        if status is None:  # nobody is left to say it: the design is not to blame
            raise WorkerFault("closed", f"{call}: the worker is lost, the process that forked it has ended")
        raise WorkerFault("died", f"{call}: the worker died ({_ending(status)})")

    def close(self) -> None:
        """End the worker. Safe to call again."""
        self._end()

    def _end(self) -> int | None:
        """End the worker and return its wait status, where it becomes known in time."""
        status: int | None = None
        if self.alive:
            with socket.socket(fileno=os.dup(self._lease)) as lease, contextlib.suppress(OSError):
                lease.shutdown(socket.SHUT_WR)
                lease.settimeout(STATUS_WAIT_S)
                said = lease.recv(STATUS_BYTES)
                status = int.from_bytes(said, "little") if said else None
        self.abandon()
        return status

    def abandon(self) -> None:
        """Let go of the worker without waiting. In a forked child the parent's worker lives on."""
        if self.alive:
            self.alive = False
            self.places = None
            del self._mailbox  # the mapping keeps a descriptor until it is collected
            self._events.close()
            for descriptor in (self._asked, self._answered, self._lease):
                os.close(descriptor)

    def __del__(self) -> None:
        self.abandon()


class Abandonable(Protocol):
    """A channel to another process."""

    def abandon(self) -> None:
        """Let go of the worker without waiting. In a forked child the parent's worker lives on."""


def track(channel: Abandonable) -> None:
    """Have a channel let go of its worker at the end of this process, and in its forked children."""
    _open.add(channel)


def abandon_all() -> None:
    """Let go of all workers of this process."""
    for channel in _open:
        channel.abandon()


def _ending(status: int) -> str:
    if os.WIFSIGNALED(status):
        return f"signal {signal_name(os.WTERMSIG(status))}"
    return f"exit status {os.waitstatus_to_exitcode(status)}"


def signal_name(number: int) -> str:
    """Return a signal's name, or its number where it has none."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


_open: weakref.WeakSet[Abandonable] = weakref.WeakSet()
