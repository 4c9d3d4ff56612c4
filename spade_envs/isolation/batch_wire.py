"""What a worker replies when many of its instances were asked at once.

What is usual stands in the reply by columns, of types that the decoder checks. What is not, and whatever went
wrong, is a message of its own for each row (:mod:`spade_envs.isolation.wire`), with that message's limits.
"""

from __future__ import annotations

import struct
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

MOST_ROWS = 4096
"""The most instances of one worker."""
MOST_KEYS = 256
"""The most keys of an info that stands in columns."""
_Rows = Meta(max_length=MOST_ROWS)
_Scalar = bool | int | float | str | None
_Flags = Annotated[bytes, _Rows]
_Own = Annotated[list[tuple[int, bytes]], _Rows]

SCALARS = frozenset({bool, int, float, str, type(None)})


class Group(msgspec.Struct, array_like=True, gc=False):
    """Infos that have the same keys. Rows are None where all have them; a column of bools is one byte for each."""

    rows: Annotated[list[int], _Rows] | None
    keys: Annotated[list[str], Meta(max_length=MOST_KEYS)]
    columns: Annotated[list[Annotated[list[_Scalar], _Rows] | _Flags], Meta(max_length=MOST_KEYS)]


class Reply(msgspec.Struct, array_like=True, gc=False):
    """Rows count from 0 in the order in which the instances were asked.

    Attributes:
        status: ``"ok"``; another reply is a fault of all.
        texts: the columns of texts.
        views: what each instance renders, where that was asked for.
        groups: infos by columns.
        infos: those that cannot stand in a column.
        odd: whole results that cannot, and faults.
        finals: last observations and infos of episodes after which another has begun.
        undone: rows for which there was no time.
        block: what lies in the memory, where worker and host share none.
    """

    status: Literal["ok"]
    texts: Annotated[list[Annotated[list[str], _Rows]], Meta(max_length=1024)]
    views: Annotated[list[str | None], _Rows] | None
    groups: Annotated[list[Group], _Rows]
    infos: _Own
    odd: _Own
    finals: _Own
    undone: Annotated[list[int], _Rows]
    block: bytes


def values_of(column: list[Any] | bytes) -> list[Any]:
    """Return the values of a column of infos."""
    return list(map(bool, column)) if type(column) is bytes else column  # type: ignore[return-value]


def encode(reply: Reply) -> bytes:
    """Return a reply as bytes.

    Raises:
        OverflowError, UnicodeEncodeError: something in a column cannot travel.
    """
    return _ENCODER.encode(reply)


def decode(data: bytes) -> Reply | None:
    """Return what a worker says, or None where it is no such reply. Lengths and row numbers are yet to be checked."""
    try:
        return _DECODER.decode(data)
    except (msgspec.DecodeError, struct.error, ValueError, TypeError, LookupError, RecursionError):
        return None


def numbers(rows: Any, count: int) -> bool:
    """Say whether rows are each one of ``count``, and none comes twice."""
    return not rows or (min(rows) >= 0 and max(rows) < count and len(set(rows)) == len(rows))


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Reply)
