"""What a worker gives up before it runs a design, in the order in which it can be given up.

Once per zygote, after its imports: namespaces of its own, where the machine allows them, and the filter of
system calls, made but not loaded. Then in each worker, all inherited by whatever it might start:

1. descriptors: its two become numbers 3 and 4, all others are closed; standard input, output and error are
   the null device;
2. environment variables and working directory: none, and the root folder;
3. resource limits: address space, no file may grow, no new process or thread, no core dump;
4. files: an empty folder becomes its root, where there are namespaces;
5. identity: where the host is root, the worker becomes user and group 65534 without further groups; no
   process of another user takes its signals, and it keeps no capability;
6. the worker dies with its zygote, which dies with its host;
7. ``no_new_privs``: no set-uid program can give anything back; not dumpable: no other process may trace it;
8. Landlock: no file, no TCP, no signal, where the kernel has it;
9. seccomp, last since it forbids all of the above: an allow-list of calls, see
   :mod:`spade_envs.isolation.seccomp`.

Without the last there is no worker. What remains to code that escaped the language: a processor until its
deadline, memory up to its limit, the time that things take (caches are shared with other processes), its
own pipes, through which it may say anything and is believed nothing, and faults of the kernel in the few
calls that are left.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import resource
import signal
from dataclasses import dataclass
from pathlib import Path

from spade_envs.errors import IsolationError
from spade_envs.isolation import landlock, namespaces, seccomp

READS, WRITES = seccomp.READS, seccomp.WRITES
"""The numbers of a worker's descriptors: it may read from the one and write to the other."""
NOBODY = 65534
TRIAL_BYTES = 64 << 20
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 1, 4, 38
# Made here: types made by ctypes in each worker would cost it as much as all of Landlock.
_THIS_PROCESS = (ctypes.c_uint32 * 2)(0x20080522, 0)  # version 3 of the interface
_NO_CAPABILITIES = (ctypes.c_uint32 * 6)()
_LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class Preparation:
    """What the zygote does once for all of its workers.

    Attributes:
        calls: the filter that each worker loads.
        spaces: the namespaces that all are born in.
    """

    calls: seccomp.Filter
    spaces: namespaces.Namespaces


def prepare() -> Preparation:
    """Prepare the locking down of this process's children, and try it on one.

    Raises:
        IsolationError: a layer is missing; the message names it.
    """
    prepared = Preparation(seccomp.build(), namespaces.enter())
    _try(prepared)
    return prepared


def lock_down(reads: int, writes: int, memory_bytes: int, parent: int, prepared: Preparation) -> None:
    """Give up all that a worker does not need. Cannot be undone.

    Args:
        reads: the descriptor to read from; it becomes :data:`READS`.
        writes: the descriptor to write to; it becomes :data:`WRITES`.
        memory_bytes: address space beyond what is in use now.
        parent: process id of the zygote, with which the worker ends.
        prepared: what the zygote has prepared.

    Raises:
        OSError: a layer cannot be put in place; the caller must end the process.
        IsolationError: likewise, for the filter of system calls.
    """
    give_up_all_but_calls(reads, writes, memory_bytes, parent, prepared)
    prepared.calls.load()


def give_up_all_but_calls(
    reads: int, writes: int, memory_bytes: int, parent: int, prepared: Preparation
) -> None:
    """All of :func:`lock_down` but its last layer, for trials of those before it. Raises OSError."""
    _close_descriptors(reads, writes)
    _forget_surroundings()
    _limit_resources(memory_bytes)
    _leave_files(prepared.spaces)
    _drop_identity()
    _drop_capabilities()
    _die_with(parent)
    _prctl(_PR_SET_DUMPABLE, 0)
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    landlock.restrict()


def _try(prepared: Preparation) -> None:
    """Lock a child down, so that what fails is said when the zygote starts and not by dying workers."""
    answer, report = os.pipe()
    zygote = os.getpid()
    trial = os.fork()
    if trial == 0:
        try:
            os.write(WRITES, _trial(answer, report, zygote, prepared).encode())
        finally:
            os._exit(0)
    os.close(report)
    with open(answer, encoding="utf-8") as file:
        said = file.read()
    _, status = os.waitpid(trial, 0)
    if said != "locked":
        raise IsolationError(said or f"a worker dies while it is locked down (wait status {status})")


def _trial(answer: int, report: int, zygote: int, prepared: Preparation) -> str:
    try:
        lock_down(answer, report, TRIAL_BYTES, zygote, prepared)
    except (OSError, IsolationError) as error:
        return f"a worker cannot be locked down: {error}"
    try:
        os.stat("/")
    except PermissionError:
        return "locked"
    return f"{seccomp.KERNEL} (the filter was loaded and stops nothing)"


def _close_descriptors(reads: int, writes: int) -> None:
    ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 2 * WRITES) for end in (reads, writes)]  # out of the way first
    null = os.open(os.devnull, os.O_RDWR)
    for number, descriptor in enumerate([null, null, null, *ends]):
        os.dup2(descriptor, number)
    for descriptor in map(int, os.listdir("/proc/self/fd")):
        if descriptor > WRITES:
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


def _leave_files(spaces: namespaces.Namespaces) -> None:
    if spaces.empty_folder:
        os.chroot(spaces.empty_folder)
        os.chdir("/")


def _drop_identity() -> None:
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)


def _drop_capabilities() -> None:
    """A new user namespace gives all of them to its first process and its children."""
    if _LIBC.capset(_THIS_PROCESS, _NO_CAPABILITIES):
        number = ctypes.get_errno()
        raise OSError(number, f"capset: {os.strerror(number)}")


def _die_with(parent: int) -> None:
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before it was bound to
        os.kill(os.getpid(), signal.SIGKILL)


def _prctl(option: int, value: int) -> None:
    if _LIBC.prctl(option, value, 0, 0, 0):
        number = ctypes.get_errno()
        raise OSError(number, f"prctl({option}): {os.strerror(number)}")
