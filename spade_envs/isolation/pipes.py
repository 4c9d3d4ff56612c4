"""The host's end of two pipes to a worker that it does not trust: whole frames, each under a deadline."""

from __future__ import annotations

import os
import select
import time

from spade_envs.isolation.wire import HEADER_BYTES, length_of

_READ_BYTES = 1 << 16


class FrameError(Exception):
    """A reply is longer than it may be, or not what was announced."""


class FramePipes:
    """Sends requests and receives replies, one at a time.

    Args:
        requests: descriptor to which requests are written.
        replies: descriptor from which replies are read.
        most: bytes of the longest reply.
    """

    def __init__(self, requests: int, replies: int, most: int) -> None:
        os.set_blocking(requests, False)  # a worker that does not read must not hold the host up
        os.set_blocking(replies, False)
        self._requests, self._replies, self._most = requests, replies, most
        self._readable, self._writable = select.poll(), select.poll()
        self._readable.register(replies, select.POLLIN)
        self._writable.register(requests, select.POLLOUT)

    def send(self, message: bytes, deadline: float) -> None:
        """Send one message.

        Raises:
            TimeoutError: it was not read by the deadline, a time of :func:`time.monotonic`.
            BrokenPipeError: the worker is gone.
        """
        rest = memoryview(len(message).to_bytes(HEADER_BYTES, "little") + message)
        while rest:
            try:
                rest = rest[os.write(self._requests, rest) :]
            except BlockingIOError:
                _wait(self._writable, deadline)

    def receive(self, deadline: float) -> bytes:
        """Return the next message.

        Raises:
            TimeoutError: it was not there by the deadline, a time of :func:`time.monotonic`.
            EOFError: the worker is gone.
            FrameError: it must not be read.
        """
        frame = bytearray()
        while (missing := self._missing(frame)) > 0:
            _wait(self._readable, deadline)
            try:
                data = os.read(self._replies, _READ_BYTES)
            except BlockingIOError:
                continue
            if not data:
                raise EOFError
            frame += data
        if missing < 0:
            raise FrameError("a reply longer than it says")
        return bytes(frame[HEADER_BYTES:])

    def _missing(self, frame: bytearray) -> int:
        if len(frame) < HEADER_BYTES:
            return HEADER_BYTES - len(frame)
        if length_of(frame) > self._most:
            raise FrameError(f"a reply of {length_of(frame):,} bytes; at most {self._most:,} are read")
        return HEADER_BYTES + length_of(frame) - len(frame)

    def close(self) -> None:
        """Close both descriptors."""
        os.close(self._requests)
        os.close(self._replies)


def _wait(poll: select.poll, deadline: float) -> None:
    left = deadline - time.monotonic()
    if left <= 0 or not poll.poll(1000 * left):
        raise TimeoutError
