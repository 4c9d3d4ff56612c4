"""A request's body, read before anything else sees it: whole and small, or not at all."""

from __future__ import annotations

import asyncio

from starlette.types import Message, Receive

DRAINED = 64_000_000
"""How much of a body that is too long is still read, so that its sender hears why, in bytes."""
PATIENCE_S = 10.0
"""How long a body may take."""


class TooLargeError(Exception):
    """A body is longer than it may be."""


class TooSlowError(Exception):
    """A body takes too long, or its sender is gone."""


async def read(receive: Receive, limit: int) -> bytes:
    """Return the body as it came, however long it was said to be.

    Raises:
        TooLargeError: it has more than ``limit`` bytes. They were not kept.
        TooSlowError: it did not come.
    """
    try:
        async with asyncio.timeout(PATIENCE_S):
            return await _read(receive, limit)
    except TimeoutError:
        raise TooSlowError from None


def again(body: bytes, receive: Receive) -> Receive:
    """Return what gives a body that was read to the one who is behind."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def given() -> Message:
        return waiting.pop() if waiting else await receive()

    return given


async def _read(receive: Receive, limit: int) -> bytes:
    kept, size, more = bytearray(), 0, True
    while more and size <= DRAINED:
        message = await receive()
        if message["type"] != "http.request":
            raise TooSlowError
        part = message.get("body", b"")
        size, more = size + len(part), message.get("more_body", False)
        if size <= limit:
            kept += part
    if size > limit:
        raise TooLargeError
    return bytes(kept)
