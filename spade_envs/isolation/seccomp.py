"""The system calls that a worker keeps: an allow-list by name, turned into a kernel filter by libseccomp.

A worker has everything imported and mapped before the filter is loaded. From then on it computes, waits on
descriptors that it already holds, and asks for memory, time and random numbers. It opens nothing, starts
nothing and signals nobody: what is not on the list fails with EPERM, and what only an attack asks for ends
the process with SIGSYS. Names that the machine's architecture or libseccomp does not know are left out of
the filter, and thereby refused.

The library is opened by the name that its interface has on every distribution. The package ``pyseccomp``
asks ``ctypes.util.find_library`` instead: that starts other programs, and finds nothing on Alpine.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
from dataclasses import dataclass

from spade_envs.errors import IsolationError

LIBRARY = "libseccomp.so.2"
MISSING = (
    f"isolated workers need libseccomp 2.4 or newer, and {LIBRARY} was not found. Install it: "
    "`apt-get install libseccomp2` (Debian, Ubuntu), `dnf install libseccomp` (Fedora), "
    "`apk add libseccomp` (Alpine), `pacman -S libseccomp` (Arch), or use isolation='container'. "
    "For code that you trust there is isolation='none'."
)
KERNEL = (
    "isolated workers need Linux 4.14 or newer with seccomp filters (CONFIG_SECCOMP_FILTER), and this kernel "
    "refuses them. For code that you trust there is isolation='none'."
)

READS, WRITES = 3, 4
"""The descriptors that may be read and written. A worker that wrote to the counter that it reads could fill it:
the host's next write would wait for ever."""
# They concern the process itself. For read and write see READS, for mmap and mprotect _MAPPING.
ALLOWED = (
    *("close", "poll", "ppoll"),
    *("brk", "munmap", "mremap", "madvise"),
    *("clock_gettime", "clock_getres", "gettimeofday", "time", "clock_nanosleep", "nanosleep"),
    *("setitimer", "getitimer"),  # an agent's program has a limit on its CPU time
    *("rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "restart_syscall"),
    *("futex", "sched_yield", "getrandom"),
    *("getpid", "gettid", "getrusage"),  # C libraries take it that these cannot fail
    *("exit", "exit_group"),
)
_MAPPING = ("mmap", "mprotect")  # without PROT_EXEC: no new machine code
KILLED = (
    *("ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd", "kcmp"),
    *("bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter", "io_uring_register"),
    *("keyctl", "add_key", "request_key"),
    *("init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot"),
    *("mount", "umount2", "pivot_root", "move_mount", "setns", "unshare"),
)

_ACT_KILL_PROCESS, _ACT_ERRNO, _ACT_ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
_ATTR_BAD_ARCH = 2
_SET_FILTER = 1
_SPECULATE = 1 << 2
"""Without this flag some kernels turn off speculation for the process, which slows down all that it does."""
_EQ = 4
_MASKED_EQ, _PROT_ARGUMENT, _PROT_EXEC = 7, 2, 4
_LIBC = ctypes.CDLL(None, use_errno=True)


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


class _Comparison(ctypes.Structure):
    _fields_ = [
        ("argument", ctypes.c_uint),
        ("operator", ctypes.c_int),
        ("mask", ctypes.c_uint64),
        ("value", ctypes.c_uint64),
    ]


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter as the kernel takes it: made once before workers are forked, then only loaded.

    ``seccomp_load`` would make it anew in every worker, at five times the price.

    Attributes:
        program: instructions for the kernel's filter machine, eight bytes each.
        call: number of the system call that loads it.
    """

    program: bytes
    call: int

    def load(self) -> None:
        """Put the filter on this process, for good. It must have ``no_new_privs``.

        Raises:
            IsolationError: this kernel has no such filters.
        """
        program = _Program(len(self.program) // 8, self.program)
        for flags in (_SPECULATE, 0):  # Linux before 4.17 does not know the flag
            if not _LIBC.syscall(self.call, _SET_FILTER, flags, ctypes.byref(program)):
                return
        raise IsolationError(f"{KERNEL} ({os.strerror(ctypes.get_errno())})")


def build() -> Filter:
    """Make the filter.

    Raises:
        IsolationError: libseccomp is missing, or this kernel has no such filters.
    """
    context = library().seccomp_init(_ACT_ERRNO | errno.EPERM)
    # Calls through another interface (32 bits on a machine of 64) have other numbers.
    _check(library().seccomp_attr_set(context, _ATTR_BAD_ARCH, _ACT_KILL_PROCESS))
    for name, end in (("read", READS), ("write", WRITES)):
        _add(context, _ACT_ALLOW, name, _Comparison(0, _EQ, end, 0))
    not_executable = _Comparison(_PROT_ARGUMENT, _MASKED_EQ, _PROT_EXEC, 0)
    for name in ALLOWED:
        _add(context, _ACT_ALLOW, name)
    for name in _MAPPING:
        _add(context, _ACT_ALLOW, name, not_executable)
    for name in KILLED:
        _add(context, _ACT_KILL_PROCESS, name)
    program = _export(context)
    library().seccomp_release(context)
    return Filter(program, number("seccomp"))


def _add(context: int, action: int, name: str, *conditions: _Comparison) -> None:
    call = number(name)
    if call >= 0:
        array = (_Comparison * len(conditions))(*conditions)
        _check(library().seccomp_rule_add_array(context, action, call, len(conditions), array))


def _export(context: int) -> bytes:
    file = os.memfd_create("filter")
    try:
        _check(library().seccomp_export_bpf(context, file))
        return os.pread(file, os.fstat(file).st_size, 0)
    finally:
        os.close(file)


def number(name: str) -> int:
    """Return a system call's number on this machine, negative where it has none."""
    return int(library().seccomp_syscall_resolve_name(name.encode()))


def version() -> str:
    """Return libseccomp's version."""
    pointer = library().seccomp_version()
    return ".".join(map(str, pointer.contents))


@functools.cache
def library() -> ctypes.CDLL:
    """Return libseccomp.

    Raises:
        IsolationError: it is not installed; the message says how to install it.
    """
    try:
        found = ctypes.CDLL(LIBRARY)
    except OSError:
        raise IsolationError(MISSING) from None
    context, word = ctypes.c_void_p, ctypes.c_uint32
    found.seccomp_init.restype = context
    found.seccomp_init.argtypes = [word]
    found.seccomp_release.argtypes = [context]
    found.seccomp_export_bpf.argtypes = [context, ctypes.c_int]
    found.seccomp_attr_set.argtypes = [context, ctypes.c_int, word]
    found.seccomp_rule_add_array.argtypes = [context, word, ctypes.c_int, ctypes.c_uint, context]
    found.seccomp_syscall_resolve_name.argtypes = [ctypes.c_char_p]
    found.seccomp_version.restype = ctypes.POINTER(ctypes.c_uint * 3)
    return found


def _check(result: int) -> None:
    """Raise what a call to the library failed with: it returns negative error numbers."""
    if result < 0:
        raise IsolationError(f"{KERNEL} ({os.strerror(-result)})")
