"""Shared memory between one host and one worker: a message each way, and room for observations.

The host makes it, and seals its size: a worker that could shrink it would kill the host on its next read. Each
area begins with the number of the exchange and the length of the message. Whatever the worker writes is copied
before it is looked at, so that it cannot change between a check and a use.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import struct
from typing import Self

_HEAD = struct.Struct("<QQ")
_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
PLACES_BYTES = 64 << 20
"""Room for the observations of all instances of one worker; what is not used takes no memory."""


class MailboxError(Exception):
    """The other side left a message that cannot be one."""


class Mailbox:
    """One side's view of the memory.

    Args:
        descriptor: the memory file; it may be closed afterwards.
        message_bytes: the longest message either way.

    Attributes:
        places: the room for observations, as writable bytes.
    """

    def __init__(self, descriptor: int, message_bytes: int) -> None:
        self._memory = mmap.mmap(descriptor, _size(message_bytes))
        self._most = message_bytes
        self._reply = _HEAD.size + message_bytes
        self.places = memoryview(self._memory)[2 * self._reply :]

    @classmethod
    def create(cls, message_bytes: int) -> tuple[Self, int]:
        """Return the host's view of new memory, and the descriptor that is the worker's way to it."""
        descriptor = os.memfd_create("spade-mailbox", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            os.ftruncate(descriptor, _size(message_bytes))
            fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEALS)
            return cls(descriptor, message_bytes), descriptor
        except BaseException:
            os.close(descriptor)
            raise

    def ask(self, number: int, message: bytes) -> None:
        """Put a request there; it must not be longer than the mailbox takes."""
        self._memory[_HEAD.size : _HEAD.size + len(message)] = message
        _HEAD.pack_into(self._memory, 0, number, len(message))

    def asked(self) -> tuple[int, bytes]:
        """Return the request's number and the request."""
        number, length = _HEAD.unpack_from(self._memory, 0)
        return number, self._memory[_HEAD.size : _HEAD.size + length]

    def answer(self, number: int, message: bytes) -> None:
        """Put a reply there; it must not be longer than the mailbox takes."""
        begin = self._reply + _HEAD.size
        self._memory[begin : begin + len(message)] = message
        _HEAD.pack_into(self._memory, self._reply, number, len(message))

    def answered(self, number: int) -> bytes:
        """Return a copy of the reply to a request.

        Raises:
            MailboxError: the reply is to another one, or too long.
        """
        found, length = _HEAD.unpack_from(self._memory, self._reply)
        if found != number:
            raise MailboxError("a reply to something that was not asked")
        if length > self._most:
            raise MailboxError(f"a reply of {length:,} bytes; at most {self._most:,} are read")
        begin = self._reply + _HEAD.size
        return self._memory[begin : begin + length]


def _size(message_bytes: int) -> int:
    return 2 * (_HEAD.size + message_bytes) + PLACES_BYTES
