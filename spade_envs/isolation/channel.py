"""The host's end of a worker: messages under a deadline, and the zygotes that workers are forked from.

A host process has one zygote per hash seed, started when it is first needed and again when it has died. After
``os.fork`` the child keeps nothing of its parent's: it starts zygotes and workers of its own.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import select
import signal
import socket
import sys
import threading
import time
import weakref
from collections.abc import Callable
from typing import Protocol, TypeVar

import msgspec

from spade_envs.errors import IsolationError, WorkerFault
from spade_envs.isolation.limits import Limits
from spade_envs.isolation.wire import HEADER_BYTES, PROBE, REFUSED, STATUS_BYTES, length_of
from spade_envs.isolation.worker import Session

ZYGOTE_START_S = 60.0
STATUS_WAIT_S = 0.1
"""How long a killed worker's wait status is waited for: it is worth a better message, not more."""
_Result = TypeVar("_Result")
_CONTROL = 3  # the control socket's descriptor in the zygote


class Channel(Protocol):
    """How the host talks to one worker."""

    alive: bool

    def exchange(self, message: bytes, seconds: float, call: str) -> bytes:
        """Send a message and return the reply.

        Raises:
            WorkerFault: no reply in time, none that may be read, or the worker died. It is gone then.
        """

    def close(self) -> None:
        """End the worker. Safe to call again."""


class LocalChannel:
    """A worker without isolation or deadlines, in the host's own process, for designs that are trusted."""

    def __init__(self, limits: Limits) -> None:
        self._session = Session(limits)
        self.alive = True

    def exchange(self, message: bytes, seconds: float, call: str) -> bytes:  # noqa: ARG002
        """Carry the message out here and now."""
        if not self.alive:
            raise WorkerFault("died", f"{call}: the worker is closed")
        return self._session.answer(message)

    def close(self) -> None:
        """Forget the design and its instances."""
        if self.alive:
            self.alive = False
            del self._session


class ProcessChannel:
    """An isolated worker process. Not for use by two threads at once.

    Args:
        requests: descriptor to which requests are written.
        replies: descriptor from which replies are read.
        lease: descriptor of the socket whose closing makes the zygote kill the worker.
        limits: the worker's limits.
    """

    alive = False

    def __init__(self, requests: int, replies: int, lease: int, limits: Limits) -> None:
        os.set_blocking(requests, False)  # a worker that does not read must not hold the host up
        self._requests, self._replies, self._lease = requests, replies, lease
        self._most = limits.message_bytes
        self._readable, self._writable = select.poll(), select.poll()
        self._readable.register(replies, select.POLLIN)
        self._writable.register(requests, select.POLLOUT)
        self.alive = True
        _channels.add(self)

    def exchange(self, message: bytes, seconds: float, call: str) -> bytes:
        """See :class:`Channel`."""
        if not self.alive:
            raise WorkerFault("died", f"{call}: the worker is gone")
        deadline = time.monotonic() + seconds
        try:
            self._send(len(message).to_bytes(HEADER_BYTES, "little") + message, deadline)
            return self._receive(deadline)
        except TimeoutError:
            self.close()
            raise WorkerFault("timeout", f"{call} took longer than {seconds:g} s and was stopped") from None
        except (EOFError, BrokenPipeError):
            raise WorkerFault("died", f"{call}: the worker died ({_ending(self._end())})") from None
        except _ProtocolError as error:
            self.close()
            raise WorkerFault("protocol", f"{call}: {error}") from None
        except BaseException:  # an interrupted exchange leaves a reply that would answer the next request
            self.close()
            raise

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
            for descriptor in (self._requests, self._replies, self._lease):
                os.close(descriptor)

    def __del__(self) -> None:
        self.abandon()

    def _send(self, frame: bytes, deadline: float) -> None:
        while frame:
            try:
                frame = frame[os.write(self._requests, frame) :]
            except BlockingIOError:
                _wait(self._writable, deadline)

    def _receive(self, deadline: float) -> bytes:
        frame = self._read(deadline)
        if len(frame) != HEADER_BYTES + length_of(frame):
            frame = self._read_on(bytearray(frame), deadline)
        return frame[HEADER_BYTES:]

    def _read_on(self, frame: bytearray, deadline: float) -> bytes:
        while len(frame) < HEADER_BYTES or len(frame) < HEADER_BYTES + length_of(frame):
            if len(frame) >= HEADER_BYTES and length_of(frame) > self._most:
                raise _ProtocolError(
                    f"a reply of {length_of(frame):,} bytes; at most {self._most:,} are read"
                )
            frame += self._read(deadline)
        if len(frame) > HEADER_BYTES + length_of(frame):
            raise _ProtocolError("a reply longer than it says")
        return bytes(frame)

    def _read(self, deadline: float) -> bytes:
        _wait(self._readable, deadline)
        data = os.read(self._replies, 1 << 16)
        if not data:
            raise EOFError
        return data


class _ProtocolError(Exception):
    """A reply is longer than it may be, or not what was announced."""


def _wait(poll: select.poll, deadline: float) -> None:
    left = deadline - time.monotonic()
    if left <= 0 or not poll.poll(1000 * left):
        raise TimeoutError


def _ending(status: int | None) -> str:
    if status is None:
        return "how is unknown"
    if os.WIFSIGNALED(status):
        return f"signal {signal.Signals(os.WTERMSIG(status)).name}"
    return f"exit status {os.waitstatus_to_exitcode(status)}"


def open_channel(limits: Limits, hash_seed: int) -> ProcessChannel:
    """Fork a worker from the zygote with this hash seed, which is started where none lives.

    Raises:
        IsolationError: this machine cannot start one.
    """
    return _on_zygote(hash_seed, lambda zygote: zygote.fork(limits))


def open_probe(request: bytes) -> tuple[int, socket.socket]:
    """Fork a probe, see :mod:`spade_envs.isolation.probe`.

    Returns:
        The descriptor from which its report is read to the end, and its lease; the caller closes both.

    Raises:
        IsolationError: this machine cannot start one.
    """
    return _on_zygote(0, lambda zygote: zygote.probe(request))


def _on_zygote(hash_seed: int, action: Callable[[_Zygote], _Result]) -> _Result:
    with _lock:
        for _ in range(2):
            zygote = _zygotes.get(hash_seed) or _zygotes.setdefault(hash_seed, _Zygote(hash_seed))
            try:
                return action(zygote)
            except (BrokenPipeError, ConnectionError):  # it died since it was last used
                _zygotes.pop(hash_seed).close()
    raise IsolationError("the process that forks isolated workers dies at once; its own message stands above")


class _Zygote:
    """The host's handle of a zygote process."""

    def __init__(self, hash_seed: int) -> None:
        if sys.platform != "linux" or not sys.executable:
            raise IsolationError(
                "isolation='process' needs Linux and a Python executable. "
                "For code that you trust there is isolation='none'."
            )
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._pid = _spawn(theirs.fileno(), hash_seed)
        said = self._first_message()
        if not said or said.startswith(REFUSED):
            self.close()
            raise IsolationError(
                said.removeprefix(REFUSED).decode()
                or "the process that forks isolated workers could not start; its own message stands above"
            )

    def _first_message(self) -> bytes:
        self._control.settimeout(ZYGOTE_START_S)
        try:
            return self._control.recv(4096)
        except OSError:
            return b""

    def fork(self, limits: Limits) -> ProcessChannel:
        """Ask for a worker. It may still fail to start: then its first call finds it dead."""
        requests, requests_end = os.pipe()
        replies, replies_end = os.pipe()
        lease, lease_end = socket.socketpair()
        channel = ProcessChannel(requests_end, replies, lease.detach(), limits)
        try:
            ends = [requests, replies_end, lease_end.fileno()]
            socket.send_fds(self._control, [msgspec.msgpack.encode(limits)], ends)
        finally:  # the worker's ends live in the worker only, or its death would not be noticed
            os.close(requests)
            os.close(replies_end)
            lease_end.close()
        return channel

    def probe(self, request: bytes) -> tuple[int, socket.socket]:
        """Ask for a probe."""
        report, report_end = os.pipe()
        lease, lease_end = socket.socketpair()
        try:
            socket.send_fds(self._control, [PROBE + request], [report_end, lease_end.fileno()])
        except BaseException:
            os.close(report)
            lease.close()
            raise
        finally:
            os.close(report_end)
            lease_end.close()
        return report, lease

    def close(self) -> None:
        """End the zygote and with it its workers."""
        self._control.close()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self._pid, 0)

    def abandon(self) -> None:
        """Let go of the zygote without waiting: it ends when its host does."""
        self._control.close()


def _spawn(control: int, hash_seed: int) -> int:
    command = [sys.executable, "-P", "-m", "spade_envs.isolation.zygote", str(_CONTROL), str(os.getpid())]
    environment = {
        "PYTHONHASHSEED": str(hash_seed),
        "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path)),
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "SPADE_REGISTER": "0",  # a worker needs no registry
    }
    actions = [
        (os.POSIX_SPAWN_DUP2, control, _CONTROL),
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
    ]
    # In a process group of its own: a terminal's interrupt is the host's to handle.
    return os.posix_spawn(sys.executable, command, environment, file_actions=actions, setpgroup=0)


def _let_go() -> None:
    for channel in _channels:
        channel.abandon()
    for zygote in _zygotes.values():
        zygote.abandon()
    _zygotes.clear()


def _after_fork_in_child() -> None:
    _let_go()
    _lock.release()


_zygotes: dict[int, _Zygote] = {}
_channels: weakref.WeakSet[ProcessChannel] = weakref.WeakSet()
# Held while a worker's ends are open in the host, so that no fork in another thread inherits them.
_lock = threading.RLock()
atexit.register(_let_go)
os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_after_fork_in_child)
