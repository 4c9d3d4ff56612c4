"""Landlock with an empty set of rules: no file, no TCP, no signal beyond the process itself.

The kernel tells its version of the interface, and this asks for all that this version can take away:
from 1 on opening, creating, removing and executing files; 2 moving them; 3 truncating; 4 TCP bind and
connect; 5 device control; 6 abstract Unix sockets and signals. What needs no opening, such as ``stat``, is
not Landlock's to refuse. Best effort: where the kernel has none, the call filter still holds.
"""

from __future__ import annotations

import ctypes
import os
import struct

# The same numbers on all architectures.
_CREATE_RULESET, _RESTRICT_SELF = 444, 446
_ASK_VERSION = 1
_FILE_RIGHTS = {1: (1 << 13) - 1, 2: 1 << 13, 3: 1 << 14, 5: 1 << 15}  # by the version that brought them
_TCP, _TCP_SINCE = 0b11, 4
_SCOPES, _SCOPES_SINCE = 0b11, 6
_LIBC = ctypes.CDLL(None, use_errno=True)


def version() -> int:
    """Return the version of the kernel's interface, 0 where it has none or it is turned off."""
    return max(0, int(_LIBC.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _ASK_VERSION)))


def restrict() -> int:
    """Take from this process, for good, all that Landlock handles. It must have ``no_new_privs``.

    Returns:
        The interface's version, or 0 where nothing could be taken.
    """
    known = version()
    rules = _empty_rules(known) if known else -1
    if rules < 0:
        return 0
    refused = _LIBC.syscall(_RESTRICT_SELF, rules, 0)
    os.close(rules)
    return 0 if refused else known


def _empty_rules(known: int) -> int:
    files = sum(rights for since, rights in _FILE_RIGHTS.items() if since <= known)
    tcp = _TCP if known >= _TCP_SINCE else 0
    scopes = _SCOPES if known >= _SCOPES_SINCE else 0
    attributes = struct.pack("QQQ", files, tcp, scopes)  # an older kernel takes zeros that it does not know
    return int(_LIBC.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0))
