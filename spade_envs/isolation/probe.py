"""A probe: a child of the zygote that is locked down like a worker and then tries what a worker must not do.

A request names the attempts and says whether all layers are in place, or all but the call filter, so that
those behind it must answer for themselves. The report is what became of each attempt: ``"done"``, the name
of the error number, or the name of another exception. A call that ends the process leaves no report; it is
asked for alone, and the wait status tells. No design runs here.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import resource
import select
import signal
import socket
from collections.abc import Callable
from typing import NoReturn

import msgspec

from spade_envs.isolation import landlock, seccomp
from spade_envs.isolation.lockdown import READS, WRITES, Preparation, give_up_all_but_calls, lock_down

DONE = "done"
MEMORY_BYTES = 64 << 20
_PR_GET_PDEATHSIG, _PTRACE_SEIZE = 2, 0x4206
_NOWHERE = ("127.0.0.1", 9)
_LIBC = ctypes.CDLL(None, use_errno=True)


class Request(msgspec.Struct, frozen=True):
    """What a probe is to try.

    Attributes:
        attempts: names in :data:`ATTEMPTS`, or names of system calls.
        filtered: whether the call filter is loaded, too.
    """

    attempts: tuple[str, ...]
    filtered: bool = True


class Report(msgspec.Struct, frozen=True):
    """What became of it.

    Attributes:
        answers: outcome by attempt.
        facts: what the kernel and the layers say of the probe itself.
    """

    answers: dict[str, str]
    facts: dict[str, str]


def answer(data: bytes, report: int, parent: int, prepared: Preparation) -> NoReturn:
    """Lock this process down, try what the request names, and report."""
    request = msgspec.msgpack.decode(data, type=Request)
    status = os.open("/proc/self/status", os.O_RDONLY)
    lock = lock_down if request.filtered else give_up_all_but_calls
    lock(status, report, MEMORY_BYTES, parent, prepared)
    facts = _facts(READS, prepared)
    os.close(READS)
    answers = {name: _outcome(name, parent, WRITES) for name in request.attempts}
    os.write(WRITES, msgspec.msgpack.encode(Report(answers, facts)))
    os._exit(0)


def _outcome(name: str, parent: int, report: int) -> str:
    try:
        if name in ATTEMPTS:
            ATTEMPTS[name](parent, report)
        else:
            _call(name)
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, type(error).__name__)
    except Exception as error:
        return type(error).__name__
    return DONE


def _facts(status: int, prepared: Preparation) -> dict[str, str]:
    lines = os.read(status, 1 << 14).decode().splitlines()
    known = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    death = ctypes.c_int()
    _LIBC.prctl(_PR_GET_PDEATHSIG, ctypes.byref(death))  # answers only where the filter is not loaded
    return {
        "user": known.get("Uid", "?").split()[0],
        "capabilities": known.get("CapEff", "?"),
        "no_new_privs": known.get("NoNewPrivs", "?"),
        "namespaces": ", ".join(prepared.spaces.kinds),
        "landlock": str(landlock.version()),
        "libseccomp": seccomp.version(),
        "dies_with_parent": str(death.value == signal.SIGKILL),
    }


def _call(name: str) -> None:
    """Make a system call with arguments that are of no use."""
    if _LIBC.syscall(seccomp.number(name), 0, 0, 0, 0, 0, 0) < 0:
        raise OSError(ctypes.get_errno(), name)


def _connect(kind: socket.SocketKind) -> None:
    with socket.socket(socket.AF_INET, kind) as caller:
        caller.connect(_NOWHERE)


def _start_process() -> None:
    if os.fork() == 0:
        os._exit(0)


def _trace(process: int) -> None:
    if _LIBC.ptrace(_PTRACE_SEIZE, process, None, None) < 0:
        raise OSError(ctypes.get_errno(), "ptrace")


def _use_other_descriptors(report: int) -> None:
    """Poll tells which numbers stand for something open."""
    for descriptor in range(3, 1024):
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        if descriptor != report and poll.poll(0)[:1] != [(descriptor, select.POLLNVAL)]:
            return
    raise OSError(errno.EBADF, "only the probe's own")


def _read_environment() -> None:
    if not os.environ:
        raise LookupError("there is none")


def _raise_limit() -> None:
    resource.prlimit(0, resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))


ATTEMPTS: dict[str, Callable[[int, int], object]] = {
    "open a folder": lambda *_: os.open("/", os.O_RDONLY),
    "find a file": lambda *_: os.stat("/proc"),
    "create a file": lambda *_: os.open("/tmp", os.O_TMPFILE | os.O_WRONLY),
    "connect by TCP": lambda *_: _connect(socket.SOCK_STREAM),
    "reach the network": lambda *_: _connect(socket.SOCK_DGRAM),
    "start a process": lambda *_: _start_process(),
    "execute a program": lambda *_: os.execv("/bin/sh", ["sh", "-c", ""]),
    "signal its parent": lambda parent, _: os.kill(parent, 0),
    "trace its parent": lambda parent, _: _trace(parent),
    "make memory executable": lambda *_: mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC),
    "raise its limits": lambda *_: _raise_limit(),
    "use too much memory": lambda *_: bytearray(2 * MEMORY_BYTES),
    "become root": lambda *_: os.setresuid(0, 0, 0),
    "use others' descriptors": lambda _, report: _use_other_descriptors(report),
    "read the environment": lambda *_: _read_environment(),
}
ALONE = ("execute a program", "trace its parent")
"""Attempts that may end the probe."""
