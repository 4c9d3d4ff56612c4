"""The zygotes of this process, from which workers are forked: one per hash seed.

A zygote is started when it is first needed and again when it has died. After ``os.fork`` the child keeps nothing
of its parent's: it starts zygotes and workers of its own.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import socket
import sys
import threading
from collections.abc import Callable
from typing import TypeVar

import msgspec

from spade_envs.errors import IsolationError
from spade_envs.isolation import channel
from spade_envs.isolation.bond import Bond
from spade_envs.isolation.channel import ForkedChannel
from spade_envs.isolation.limits import Limits
from spade_envs.isolation.mailbox import Mailbox
from spade_envs.isolation.wire import PROBE, REFUSED

ZYGOTE_START_S = 60.0
_Result = TypeVar("_Result")
_CONTROL, _BOND = 3, 4  # the descriptors of the control socket and of the bond in the zygote


def open_channel(limits: Limits, hash_seed: int) -> ForkedChannel:
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
            except OSError as error:
                raise IsolationError(f"no worker can be started now: {error.strerror or error}") from None
    raise IsolationError("the process that forks isolated workers dies at once; its own message stands above")


class _Zygote:
    """The host's handle of a zygote process."""

    def __init__(self, hash_seed: int) -> None:
        channel.check_platform("process")
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._bond = Bond()
        with theirs:
            self._pid = _spawn(theirs.fileno(), self._bond.theirs, hash_seed)
        self._bond.hold(self._pid)
        try:
            said = self._first_message()
        except BaseException:  # an interrupt must not leave a zombie
            self.close()
            raise
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

    def fork(self, limits: Limits) -> ForkedChannel:
        """Ask for a worker. It may still fail to start: then its first call finds it dead."""
        with contextlib.ExitStack() as passed, contextlib.ExitStack() as kept:
            mailbox, memory = Mailbox.create(limits.message_bytes)
            passed.callback(os.close, memory)
            asked = _closed_by(kept, os.eventfd(0, os.EFD_CLOEXEC))
            answered = _closed_by(kept, os.eventfd(0, os.EFD_CLOEXEC))
            ours, theirs = socket.socketpair()
            passed.enter_context(theirs)
            lease = _closed_by(kept, ours.detach())
            forked = ForkedChannel(mailbox, asked, answered, lease, limits)
            kept.pop_all()  # they are the channel's now
            ends = [memory, asked, answered, theirs.fileno()]
            socket.send_fds(self._control, [msgspec.msgpack.encode(limits)], ends)
        return forked

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
        self.abandon()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self._pid, 0)

    def abandon(self) -> None:
        """Let go of the zygote without waiting: it ends when its host does."""
        self._control.close()
        self._bond.close()


def _closed_by(stack: contextlib.ExitStack, descriptor: int) -> int:
    stack.callback(os.close, descriptor)
    return descriptor


def _spawn(control: int, bond: int, hash_seed: int) -> int:
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
        (os.POSIX_SPAWN_DUP2, bond, _BOND),
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
    ]
    # In a process group of its own: a terminal's interrupt is the host's to handle.
    return os.posix_spawn(sys.executable, command, environment, file_actions=actions, setpgroup=0)


def _let_go() -> None:
    channel.abandon_all()
    for zygote in _zygotes.values():
        zygote.abandon()
    _zygotes.clear()


def _after_fork_in_child() -> None:
    _let_go()
    _lock.release()


_zygotes: dict[int, _Zygote] = {}
# Held while a worker's ends are open in the host, so that no fork in another thread inherits them.
_lock = threading.RLock()
atexit.register(_let_go)
os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_after_fork_in_child)
