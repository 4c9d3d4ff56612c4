"""What a worker gives up before it runs a design, in the order in which it can be given up.

Layers, all inherited by whatever the worker might start:

1. descriptors: all but its own pipes are closed; standard input, output and error are the null device;
2. environment variables and working directory: none, and the root folder;
3. resource limits: address space, no file may grow, no new process or thread, no core dump;
4. identity: where the host is root, the worker becomes user and group 65534 without further groups;
5. the worker dies with its zygote, which dies with its host;
6. ``no_new_privs``: no set-uid program can give anything back; not dumpable: no other process may trace it.

This does **not** yet stop system calls. Code that escaped the language could read files that user 65534 may
read, open network connections, send signals to processes of its own user, and use a processor until its
deadline. Where the host is not root, that user is the host's own. Landlock and seccomp, which stop these,
belong at the end of :func:`lock_down`: seccomp last, since it forbids all of the above.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
from collections.abc import Collection
from pathlib import Path

NOBODY = 65534
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 1, 4, 38
_LIBC = ctypes.CDLL(None, use_errno=True)


def lock_down(keep: Collection[int], memory_bytes: int, parent: int) -> None:
    """Give up all that a worker does not need. Cannot be undone.

    Args:
        keep: descriptors that stay open; they must be above 2.
        memory_bytes: address space beyond what is in use now.
        parent: process id of the zygote, with which the worker ends.

    Raises:
        OSError: a layer cannot be put in place; the caller must end the process.
    """
    _close_descriptors(keep)
    _forget_surroundings()
    _limit_resources(memory_bytes)
    _drop_identity()
    _die_with(parent)
    _prctl(_PR_SET_DUMPABLE, 0)
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def _close_descriptors(keep: Collection[int]) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    for standard in range(3):
        os.dup2(null, standard)
    for descriptor in map(int, os.listdir("/proc/self/fd")):
        if descriptor > 2 and descriptor not in keep:
            with contextlib.suppress(OSError):  # the one that listed them is closed already
                os.close(descriptor)


def _forget_surroundings() -> None:
    os.environ.clear()
    os.chdir("/")
    os.umask(0o077)


def _limit_resources(memory_bytes: int) -> None:
    pages_in_use = int(Path("/proc/self/statm").read_text().split()[0])
    limits = {
        resource.RLIMIT_AS: pages_in_use * resource.getpagesize() + memory_bytes,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_NPROC: 0,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_NOFILE: 16,
    }
    for limit, value in limits.items():
        resource.setrlimit(limit, (value, value))


def _drop_identity() -> None:
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)


def _die_with(parent: int) -> None:
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before it was bound to
        os.kill(os.getpid(), signal.SIGKILL)


def _prctl(option: int, value: int) -> None:
    if _LIBC.prctl(option, value, 0, 0, 0):
        number = ctypes.get_errno()
        raise OSError(number, f"prctl({option}): {os.strerror(number)}")
