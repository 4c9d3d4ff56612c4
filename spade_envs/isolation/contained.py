"""The worker's program in a container: ``python -m spade_envs.isolation.contained LIMITS``.

The first process of the container never sees a design. It imports all that a worker needs, forks the worker, and
waits until that ends or the host hangs up: then it ends, and the container with it. So a container does not
outlive its host, even where the runtime's client was killed and could tell nobody.

Standard input and output are the pipes to the host: frames of :mod:`spade_envs.isolation.wire`, of which the first
is ``wire.READY``. They are moved before any design's code runs, so that nothing else can be said on them.
"""

from __future__ import annotations

import fcntl
import gc
import os
import select
import sys
import warnings
from typing import NoReturn

import msgspec

from spade_envs.isolation import lockdown, wire, worker
from spade_envs.isolation.limits import Limits
from spade_envs.isolation.session import Session

_FIRST = 10  # the lowest descriptor that the pipes are moved to


def main() -> NoReturn:
    """Run the container's first process."""
    requests, replies = _take_pipes()
    limits = msgspec.json.decode(sys.argv[1], type=Limits)
    os.chdir("/")
    warnings.simplefilter("ignore")  # nobody would read them
    worker.warm_up()
    prepared = lockdown.prepare()
    gc.collect()
    gc.freeze()
    first = os.getpid()
    worker_id = os.fork()
    if worker_id == 0:
        _become_worker(requests, replies, limits, first, prepared)
    os.close(replies)  # so that the host notices when the worker ends
    _attend(worker_id, requests)


def _take_pipes() -> tuple[int, int]:
    """Move the pipes to other descriptors, and the null device to theirs."""
    requests, replies = (fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _FIRST) for descriptor in (0, 1))
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1):
        os.dup2(null, standard)
    os.close(null)
    return requests, replies


def _become_worker(
    requests: int, replies: int, limits: Limits, first: int, prepared: lockdown.Preparation
) -> NoReturn:
    try:
        lockdown.lock_down(requests, replies, limits.memory_mb << 20, first, prepared)
        serve(lockdown.READS, lockdown.WRITES, limits)
    finally:
        os._exit(1)


def serve(requests: int, replies: int, limits: Limits) -> NoReturn:
    """Answer the host until it hangs up."""
    session = Session(limits)
    wire.write_frame(replies, wire.READY)
    while True:
        try:
            message = wire.read_frame(requests)
        except EOFError:
            os._exit(0)
        wire.write_frame(replies, worker.reply_to(message, session))


def _attend(worker_id: int, requests: int) -> NoReturn:
    """Wait for the worker's or the host's end. The exit status is the worker's as shells say it."""
    poll = select.poll()
    poll.register(requests, 0)  # no event but that the other end is closed
    poll.register(os.pidfd_open(worker_id), select.POLLIN)
    poll.poll()
    ended, status = os.waitpid(worker_id, os.WNOHANG)
    code = os.waitstatus_to_exitcode(status) if ended else 0
    os._exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main()
