"""The zygote: a clean interpreter that has everything imported and forks workers on request.

``python -m spade_envs.isolation.zygote CONTROL HOST``: descriptor of the control socket, process id of the
host. It never sees a design. Its first message on the control socket is ``ready``, or ``!`` and the reason
why it cannot lock workers down. Each request there is a worker's limits with four descriptors: the
mailbox's memory and the counters of requests and of replies, which the worker gets, and the worker's lease,
which the zygote keeps. A request that begins with
``?`` asks for a probe instead, see :mod:`spade_envs.isolation.probe`: it takes one descriptor for its report,
and a lease. When the host closes its end of the lease, the zygote kills the worker; when the worker ends, the
zygote says its wait status on the lease. The zygote ends with its host, and the workers with the zygote.
"""

from __future__ import annotations

import contextlib
import gc
import os
import resource
import selectors
import signal
import socket
import sys
import warnings
from collections.abc import Callable
from functools import partial
from typing import NoReturn

import msgspec

from spade_envs.errors import IsolationError
from spade_envs.isolation import lockdown, probe, worker
from spade_envs.isolation.limits import Limits
from spade_envs.isolation.mailbox import Mailbox
from spade_envs.isolation.wire import PROBE, READY, REFUSED, STATUS_BYTES


class Zygote:
    """Forks workers, kills those whose lease is given up, and reaps all."""

    def __init__(self, control: socket.socket, host: int) -> None:
        self._control = control
        self._selector = selectors.DefaultSelector()
        self._watch(control.fileno(), self._fork)
        try:
            self._watch(os.pidfd_open(host), sys.exit)
        except ProcessLookupError:  # it is gone already
            sys.exit()

    def run(self) -> NoReturn:
        """Serve until the host is gone."""
        self._prepare()
        while True:
            for key, _ in self._selector.select():
                if self._selector.get_map().get(key.fd) is key:  # else an action before it saw to it
                    key.data()

    def _prepare(self) -> None:
        """Prepare the lock-down of workers and say so, or why it cannot be."""
        try:
            self._prepared = lockdown.prepare()
        except (IsolationError, OSError) as error:
            self._control.send(REFUSED + str(error).encode())
            sys.exit(1)
        self._control.send(READY)

    def _watch(self, descriptor: int, action: Callable[[], object]) -> None:
        self._selector.register(descriptor, selectors.EVENT_READ, action)

    def _fork(self) -> None:
        request, descriptors, _, _ = socket.recv_fds(self._control, 4096, 4)
        if not request:
            sys.exit()
        *ends, lease = descriptors
        parent = os.getpid()
        try:
            worker_id = os.fork()
        except OSError:  # the host will find its worker dead
            os.close(lease)
        else:
            if worker_id == 0:
                _become_worker(ends, request, parent, self._prepared)
            ended = os.pidfd_open(worker_id)
            self._watch(lease, partial(self._kill, worker_id, lease))
            self._watch(ended, partial(self._reap, worker_id, lease, ended))
        finally:
            for end in ends:
                os.close(end)

    def _kill(self, worker_id: int, lease: int) -> None:
        self._selector.unregister(lease)
        os.kill(worker_id, signal.SIGKILL)

    def _reap(self, worker_id: int, lease: int, ended: int) -> None:
        _, status = os.waitpid(worker_id, 0)
        self._selector.unregister(ended)
        os.close(ended)
        if lease in self._selector.get_map():
            self._selector.unregister(lease)
        with socket.socket(fileno=lease) as report, contextlib.suppress(OSError):
            report.send(status.to_bytes(STATUS_BYTES, "little"), socket.MSG_NOSIGNAL | socket.MSG_DONTWAIT)


def _become_worker(ends: list[int], request: bytes, parent: int, prepared: lockdown.Preparation) -> NoReturn:
    try:
        if request.startswith(PROBE):
            probe.answer(request.removeprefix(PROBE), ends[0], parent, prepared)
        limits = msgspec.msgpack.decode(request, type=Limits)
        memory, asked, answered = ends
        mailbox = Mailbox(memory, limits.message_bytes)
        lockdown.lock_down(asked, answered, limits.memory_mb << 20, parent, prepared)
        worker.serve(mailbox, lockdown.READS, lockdown.WRITES, limits)
    finally:
        os._exit(1)


def main() -> NoReturn:
    """Run the zygote of the process that started this one."""
    control, host = map(int, sys.argv[1:])
    os.chdir("/")
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    zygote = Zygote(socket.socket(fileno=control), host)
    if os.getppid() != host:
        sys.exit()
    warnings.simplefilter("ignore")  # nobody would read a worker's
    worker.warm_up()
    gc.collect()
    gc.freeze()  # a collection in a worker must not copy the pages that all share
    zygote.run()


if __name__ == "__main__":
    main()
