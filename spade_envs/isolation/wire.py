"""What travels between host and worker: MessagePack of exact built-in types, and three extensions.

A value is None, a bool, an int of 64 bits, a float, a str, bytes, a list, a tuple, a dict with str or int
keys, a NumPy array or a NumPy scalar of a boolean, integer or float type. Nothing is ever pickled, and
nothing but these types comes out of :func:`decode`, whoever wrote the bytes. A message is nested at most 16
deep and has at most 100,000 items; a frame is its length in four bytes (little-endian) and the message.
"""

from __future__ import annotations

import os
import struct
from typing import Any

import msgspec
import numpy as np

MAX_DEPTH = 16
MAX_ITEMS = 100_000
HEADER_BYTES = 4

_TUPLE, _ARRAY, _SCALAR = 1, 2, 3
_DTYPES = tuple(map(np.dtype, ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")))
_CODES = {dtype.str: code for code, dtype in enumerate(_DTYPES)}
_PLAIN = frozenset({type(None), bool, int, float, str, bytes})
_LEAVES = _PLAIN | {np.ndarray} | {dtype.type for dtype in _DTYPES}
# MessagePack's first bytes: those that stand for a fixed number of bytes, and those that a length follows.
_FIXED = {0xCA: 5, 0xCB: 9, 0xCC: 2, 0xCD: 3, 0xCE: 5, 0xCF: 9, 0xD0: 2, 0xD1: 3, 0xD2: 5, 0xD3: 9}
_FIXED |= {0xDC: 3, 0xDD: 5, 0xDE: 3, 0xDF: 5}
_SIZED = {0xC4: 1, 0xC5: 2, 0xC6: 4, 0xD9: 1, 0xDA: 2, 0xDB: 4}
_EXTENSION = {0xC7: 1, 0xC8: 2, 0xC9: 4}
_FIXED_EXTENSION = {0xD4: 1, 0xD5: 2, 0xD6: 4, 0xD7: 8, 0xD8: 16}


class WireError(ValueError):
    """A value that cannot travel, or a message that must not be read."""


def encode(value: Any) -> bytes:
    """Return ``value`` as a message. Subclasses of built-in types travel as those; sets as sorted lists.

    Raises:
        WireError: what stands in the value that cannot travel.
    """
    try:
        data = _ENCODER.encode(_plain(value, 0))
    except OverflowError:
        raise WireError("an integer of more than 64 bits") from None
    except UnicodeEncodeError:
        raise WireError("text with half of a surrogate pair") from None
    _check_items(data)
    return data


def decode(data: bytes) -> Any:
    """Return the value of a message from whomever.

    Raises:
        WireError: what is wrong with the message.
    """
    _check_items(data)
    try:
        value = _DECODER.decode(data)
    except (msgspec.DecodeError, struct.error, ValueError, LookupError, RecursionError) as error:
        raise WireError(f"a message that cannot be read ({type(error).__name__})") from None
    if type(value) not in _LEAVES:
        _check(value, 0)
    return value


def write_frame(fd: int, data: bytes) -> None:
    """Write one message to a blocking descriptor."""
    frame = len(data).to_bytes(HEADER_BYTES, "little") + data
    while frame:
        frame = frame[os.write(fd, frame) :]


def read_frame(fd: int) -> bytes:
    """Read one message from a blocking descriptor whose other side sends one at a time.

    Raises:
        EOFError: the other side is gone.
    """
    frame = os.read(fd, 1 << 16)
    while len(frame) < HEADER_BYTES or len(frame) < HEADER_BYTES + length_of(frame):
        part = os.read(fd, 1 << 20)
        if not part:
            raise EOFError
        frame += part
    return frame[HEADER_BYTES:]


def length_of(frame: bytes | bytearray) -> int:
    """The length in bytes of the message that a frame announces."""
    return int.from_bytes(frame[:HEADER_BYTES], "little")


def _plain(value: Any, depth: int) -> Any:
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is np.ndarray:
        return msgspec.msgpack.Ext(_ARRAY, _array(value))
    if depth >= MAX_DEPTH:
        raise WireError(f"data nested more than {MAX_DEPTH} deep")
    depth += 1
    if isinstance(value, dict):
        return {
            key if type(key) is str else _key(key): item if type(item) in _PLAIN else _plain(item, depth)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        items = [item if type(item) in _PLAIN else _plain(item, depth) for item in value]
        return items if isinstance(value, list) else msgspec.msgpack.Ext(_TUPLE, _ENCODER.encode(items))
    if isinstance(value, np.generic) and value.dtype.str in _CODES:
        return msgspec.msgpack.Ext(_SCALAR, _array(np.asarray(value)))
    return _of_subclass(value, depth - 1)


def _of_subclass(value: Any, depth: int) -> Any:
    """Members of enums, ``np.str_`` and the like are written by habit, and mean what their base says."""
    for base in (str, int, float):
        if isinstance(value, base):
            return getattr(base, f"__{base.__name__}__")(value)
    if isinstance(value, (set, frozenset)):
        try:
            return _plain(sorted(value), depth)
        except TypeError:
            raise WireError("a set whose members have no order") from None
    raise WireError(f"an object of type {type(value).__name__[:60]}")


def _key(key: Any) -> str | int:
    if isinstance(key, str):
        return str.__str__(key)
    if isinstance(key, (int, np.integer)) and type(key) is not bool:
        return int(key)
    raise WireError(f"a dictionary key of type {type(key).__name__[:60]} (str and int can travel)")


def _array(array: np.ndarray) -> bytes:
    code = _CODES.get(array.dtype.str)
    if code is None:
        raise WireError(f"an array of type {array.dtype.name[:60]}")
    return struct.pack(f"<BB{array.ndim}I", code, array.ndim, *array.shape) + array.tobytes()


def _revive(code: int, data: memoryview) -> Any:
    if code == _TUPLE:
        items = _DECODER.decode(data)
        return tuple(items) if type(items) is list else _refuse()
    if code not in (_ARRAY, _SCALAR):
        _refuse()
    dtype, dimensions = _DTYPES[data[0]], data[1]
    shape = struct.unpack_from(f"<{dimensions}I", data, 2)
    array = np.frombuffer(data, dtype, offset=2 + 4 * dimensions).reshape(shape).copy()
    return array if code == _ARRAY else array[()]


def _refuse() -> Any:
    raise ValueError


def _check(value: Any, depth: int) -> None:
    """Refuse what MessagePack can say and the wire does not: other types, other keys, deeper nesting."""
    kind = type(value)
    if depth >= MAX_DEPTH:
        raise WireError(f"a message nested more than {MAX_DEPTH} deep")
    if kind is dict:
        for key in value:
            if type(key) is not str and type(key) is not int:
                raise WireError("a message with a key that is neither str nor int")
        value = value.values()
    elif kind is not list and kind is not tuple:
        raise WireError("a message with an unknown type")
    for item in value:
        if type(item) not in _LEAVES:
            _check(item, depth + 1)


def _check_items(data: bytes) -> None:
    """Count the items before anything is built of them: eight megabytes can announce gigabytes of objects."""
    if len(data) <= MAX_ITEMS:  # each item takes a byte at least
        return
    at = items = 0
    while at < len(data):
        at += _span(data, at)
        items += 1
        if items > MAX_ITEMS:
            raise WireError(f"more than {MAX_ITEMS:,} items")


def _span(data: bytes, at: int) -> int:
    """How many bytes to skip to the next item: those of a container are items of their own."""
    first = data[at]
    if 0xA0 <= first < 0xC0:  # short text
        return 1 + (first & 0x1F)
    if first in _SIZED:
        width = _SIZED[first]
        return 1 + width + int.from_bytes(data[at + 1 : at + 1 + width], "big")
    if first in _EXTENSION or first in _FIXED_EXTENSION:
        width = _EXTENSION.get(first, 0)
        content = _FIXED_EXTENSION.get(first) or int.from_bytes(data[at + 1 : at + 1 + width], "big")
        code = data[at + 1 + width : at + 2 + width]
        return 2 + width + (0 if code == bytes([_TUPLE]) else content)
    return _FIXED.get(first, 1)


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(ext_hook=_revive)
