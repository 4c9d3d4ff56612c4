"""Empty namespaces for all workers of a zygote: no network but an interface that is down, no files.

The zygote enters them once, after its imports, so that a worker costs nothing more. Root can; anybody else
needs a user namespace, which some distributions and most containers refuse. Best effort: everything here is
also refused by the call filter. There is no namespace of processes: its first process would have to outlive
all others and reap them, and the zygote, outside of it, would have to know its workers by two numbers each;
signals to others are already stopped by the call filter, by Landlock and by the worker's identity.
"""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass

_NEW = {"mount": 0x00020000, "uts": 0x04000000, "ipc": 0x08000000, "net": 0x40000000}
_NEW_USER = 0x10000000
_READ_ONLY, _NO_SETUID, _NO_DEVICES, _NO_EXECUTION, _RECURSIVE, _PRIVATE = 1, 2, 4, 8, 1 << 14, 1 << 18
_COVERED = b"/sys"
"""Where the empty folder lies in the zygote's own view: a folder of every Linux that holds no code."""
_LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class Namespaces:
    """What a zygote got.

    Attributes:
        kinds: of ``"user"``, ``"mount"``, ``"uts"``, ``"ipc"``, ``"net"``; none or all that were asked for.
        empty_folder: read-only and empty, to become a worker's root; None where it cannot be.
    """

    kinds: tuple[str, ...] = ()
    empty_folder: str | None = None


def enter() -> Namespaces:
    """Move this process, which must have one thread, into new namespaces; all or none."""
    user = os.geteuid() != 0
    flags = sum(_NEW.values()) | (_NEW_USER if user else 0)
    if _LIBC.unshare(flags):
        return Namespaces()
    return Namespaces((*(["user"] if user else []), *_NEW), _COVERED.decode() if _cover() else None)


def _cover() -> bool:
    """Mount an empty folder where only this namespace sees it."""
    if _LIBC.mount(None, b"/", None, ctypes.c_ulong(_RECURSIVE | _PRIVATE), None):
        return False
    flags = _READ_ONLY | _NO_SETUID | _NO_DEVICES | _NO_EXECUTION
    return not _LIBC.mount(b"none", _COVERED, b"tmpfs", ctypes.c_ulong(flags), b"size=4k,mode=555")
