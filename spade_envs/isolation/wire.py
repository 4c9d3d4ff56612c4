"""What travels between host and worker: MessagePack of exact built-in types, and three extensions.

A value is None, a bool, an int of 64 bits, a float, a str, bytes, a list, a tuple, a dict with str or int
keys, a NumPy array or a NumPy scalar of a boolean, integer or float type. Nothing is ever pickled, and
nothing but these types comes out of :func:`decode`, whoever wrote the bytes. A message is a list, nested at
most 16 deep and has at most 100,000 items; a frame is its length in four bytes (little-endian) and the
message.
"""

from __future__ import annotations

import functools
import os
import struct
from typing import Any, Literal

import msgspec
import numpy as np

MAX_DEPTH = 16
MAX_ITEMS = 100_000
HEADER_BYTES = 4
STATUS_BYTES = 4
"""A worker's wait status, little-endian, as the zygote says it on the worker's lease."""
READY, REFUSED = b"ready", b"!"
"""How the first message of a zygote or of a container begins; after the second follows what is wrong."""
PROBE = b"?"
"""How a request begins that asks the zygote for a probe and no worker."""

_TUPLE, _ARRAY, _SCALAR = 1, 2, 3
_DTYPES = tuple(map(np.dtype, ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")))
_PLAIN = frozenset({type(None), bool, int, float, str, bytes})
_TEXT = frozenset({str})
_LEAVES = _PLAIN | {np.ndarray} | {dtype.type for dtype in _DTYPES}
# MessagePack's first bytes: those that stand for a fixed number of bytes, and those that a length follows.
_FIXED = {0xCA: 5, 0xCB: 9, 0xCC: 2, 0xCD: 3, 0xCE: 5, 0xCF: 9, 0xD0: 2, 0xD1: 3, 0xD2: 5, 0xD3: 9}
_FIXED |= {0xDC: 3, 0xDD: 5, 0xDE: 3, 0xDF: 5}
_SIZED = {0xC4: 1, 0xC5: 2, 0xC6: 4, 0xD9: 1, 0xDA: 2, 0xDB: 4}
_EXTENSION = {0xC7: 1, 0xC8: 2, 0xC9: 4}
_FIXED_EXTENSION = {0xD4: 1, 0xD5: 2, 0xD6: 4, 0xD7: 8, 0xD8: 16}


class WireError(ValueError):
    """A value that cannot travel, or a message that must not be read."""


def encode(message: list[Any]) -> bytes:
    """Return a message. Subclasses of built-in types travel as those; sets as sorted lists.

    Raises:
        WireError: what stands in the message that cannot travel.
    """
    try:
        data = _ENCODER.encode([item if type(item) in _PLAIN else _plain(item, 1) for item in message])
    except OverflowError:
        raise WireError("an integer of more than 64 bits") from None
    except UnicodeEncodeError:
        raise WireError("text with half of a surrogate pair") from None
    if len(data) > MAX_ITEMS:
        _check_items(data)
    return data


def encode_step(result: tuple[Any, Any, Any, Any, Any]) -> bytes:
    """Return the reply to a step, as :func:`encode` would with "ok" before it, sooner where it is a usual one.

    Raises:
        WireError: what stands in the result that cannot travel.
    """
    observation, reward, terminated, truncated, info = result
    if (
        type(info) is dict
        and _PLAIN.issuperset(map(type, info.values()))
        and _TEXT.issuperset(map(type, info))
        and type(observation) in _PLAIN
        and type(reward) is float
        and type(terminated) is type(truncated) is bool
    ):
        try:
            data = _ENCODER.encode(("ok", observation, reward, terminated, truncated, info))
        except (OverflowError, UnicodeEncodeError):
            pass
        else:
            if len(data) <= MAX_ITEMS:
                return data
    return encode(["ok", *result])


def decode_step(data: bytes) -> tuple[Any, float, bool, bool, dict[str, Any]] | None:
    """Return what the reply to a step says in its usual form, or None: then :func:`decode` it.

    The reward is a float, perhaps not finite; both flags are bools; the info has texts as keys and holds no
    containers. Of the observation nothing is known but that it consists of what can travel or of MessagePack's
    other types: check it.
    """
    if len(data) > MAX_ITEMS:
        return None
    try:
        return _STEP_DECODER.decode(data)[1:]
    except (msgspec.DecodeError, struct.error, ValueError, TypeError, LookupError, RecursionError):
        return None


def read(data: bytes) -> list[Any]:
    """Return a message from the host, which a worker has no reason to check."""
    message: list[Any] = _DECODER.decode(data)
    return message


def decode(data: bytes) -> list[Any]:
    """Return a message from whomever.

    Raises:
        WireError: what is wrong with the message.
    """
    if len(data) > MAX_ITEMS:
        _check_items(data)
    try:
        message = _DECODER.decode(data)
    except (msgspec.DecodeError, struct.error, ValueError, TypeError, LookupError, RecursionError) as error:
        raise WireError(f"a message that cannot be read ({type(error).__name__})") from None
    if type(message) is not list:
        raise WireError("a message that is no list")
    for item in message:
        if type(item) not in _LEAVES:
            _check(item, 1)
    return message


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
    """Return what MessagePack has for a value that is not in ``_PLAIN``; the commonest come first."""
    kind = type(value)
    if kind is dict:
        if _PLAIN.issuperset(map(type, value.values())) and _TEXT.issuperset(map(type, value)):
            return value
        _check_depth(depth)
        depth += 1
        return {
            key if type(key) is str else _key(key): item if type(item) in _PLAIN else _plain(item, depth)
            for key, item in value.items()
        }
    if kind is np.ndarray:
        return msgspec.msgpack.Ext(_ARRAY, _array(value))
    if kind is list or kind is tuple:
        _check_depth(depth)
        items = [item if type(item) in _PLAIN else _plain(item, depth + 1) for item in value]
        return items if kind is list else msgspec.msgpack.Ext(_TUPLE, _ENCODER.encode(items))
    if kind in _LEAVES:
        return msgspec.msgpack.Ext(_SCALAR, _array(np.asarray(value)))
    base = _base(value)
    return base if type(base) in _PLAIN else _plain(base, depth)


def _base(value: Any) -> Any:
    """Members of enums, ``np.str_`` and the like are written by habit, and mean what their base says."""
    for base in (str, int, float):
        if isinstance(value, base):
            return getattr(base, f"__{base.__name__}__")(value)
    for container in (dict, list, tuple):
        if isinstance(value, container):
            return container(value)
    if isinstance(value, np.integer):  # of the types that C has two names for
        return int(value)
    if isinstance(value, (set, frozenset)):
        try:
            return sorted(value)
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
    return _array_header(array.dtype, array.shape) + array.tobytes()


@functools.lru_cache(maxsize=256)
def _array_header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    if dtype not in _DTYPES:
        raise WireError(f"an array of type {dtype.name[:60]}")
    return struct.pack(f"<BB{len(shape)}I", _DTYPES.index(dtype), len(shape), *shape)


def _revive(code: int, data: memoryview) -> Any:
    if code == _TUPLE:
        items = _DECODER.decode(data)
        return tuple(items) if type(items) is list else _refuse()
    if code not in (_ARRAY, _SCALAR):
        _refuse()
    start = 2 + 4 * data[1]
    dtype, shape = _read_array_header(bytes(data[:start]))
    array = np.ndarray(shape, dtype, data, start).copy()
    return array if code == _ARRAY else array[()]


@functools.lru_cache(maxsize=256)
def _read_array_header(header: bytes) -> tuple[np.dtype[Any], tuple[int, ...]]:
    return _DTYPES[header[0]], struct.unpack_from(f"<{header[1]}I", header, 2)


def _refuse() -> Any:
    raise ValueError


def _check(value: Any, depth: int) -> None:
    """Refuse what MessagePack can say and the wire does not: other types, other keys, deeper nesting."""
    _check_depth(depth)
    kind = type(value)
    if kind is dict:
        for key in value:
            if type(key) is not str and type(key) is not int:
                raise WireError("a key that is neither str nor int")
        value = value.values()
    elif kind is not list and kind is not tuple:
        raise WireError(f"a value of type {kind.__name__}")
    for item in value:
        if type(item) not in _LEAVES:
            _check(item, depth + 1)


def _check_depth(depth: int) -> None:
    if depth >= MAX_DEPTH:
        raise WireError(f"data nested more than {MAX_DEPTH} deep")


def _check_items(data: bytes) -> None:
    """Count the items before anything is built of them: eight megabytes can announce gigabytes of objects.

    Each takes a byte at least: shorter messages need no count.
    """
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
_STEP_DECODER = msgspec.msgpack.Decoder(
    tuple[Literal["ok"], Any, float, bool, bool, dict[str, bool | int | float | str | None]], ext_hook=_revive
)
