"""The wire carries exact values, refuses everything else, and is safe to read whatever was written."""

from __future__ import annotations

import contextlib
import enum
import tracemalloc
from collections import Counter, namedtuple
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from spade_envs.isolation import wire

TYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats()
    | st.text()
    | st.binary(max_size=20)
)
arrays = st.sampled_from(TYPES).flatmap(
    lambda kind: npst.arrays(np.dtype(kind), npst.array_shapes(min_dims=0, max_dims=3, min_side=0))
)
numpy_scalars = arrays.filter(lambda array: array.size).map(lambda array: array.flat[0])
keys = st.text(max_size=5) | st.integers(-(2**63), 2**63 - 1)
values = st.recursive(
    scalars | arrays | numpy_scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(keys, inner, max_size=4)
    ),
    max_leaves=20,
)


class Level(enum.IntEnum):
    LOW = 1


class Colour(enum.StrEnum):
    RED = "red"


Point = namedtuple("Point", ["x", "y"])


def same(left: Any, right: Any) -> bool:
    """Equal in value and in every type; NaN equals NaN."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return list(left) == list(right) and all(same(left[key], right[key]) for key in left)
    if isinstance(left, (list, tuple)):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, (np.ndarray, np.generic)):
        return left.dtype == right.dtype and left.shape == right.shape and left.tobytes() == right.tobytes()
    return bool(left == right) or (left != left and right != right)


def nested(depth: int) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


@given(values)
def test_values_arrive_as_they_were(value: Any) -> None:
    assert same(wire.decode(wire.encode([value]))[0], value)


@pytest.mark.parametrize(
    ("value", "arrives"),
    [
        (Level.LOW, 1),
        (Colour.RED, "red"),
        (Point(1, 2), (1, 2)),
        (Counter("aab"), {"a": 2, "b": 1}),
        ({3, 1, 2}, [1, 2, 3]),
        (np.str_("word"), "word"),
        ({np.int64(4): "four", Level.LOW: 1}, {4: "four", 1: 1}),
    ],
)
def test_habitual_subclasses_arrive_as_their_base(value: Any, arrives: Any) -> None:
    assert same(wire.decode(wire.encode([value]))[0], arrives)


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (object(), "type object"),
        (1j, "type complex"),
        (2**70, "64 bits"),
        ("\ud800", "surrogate"),
        ({(1, 2): 3}, "key"),
        ({1, "a"}, "no order"),
        (np.array([object()]), "array of type object"),
        (np.zeros(2, "M8[s]"), "array of type"),
        (np.zeros(2, [("x", "i4")]), "array of type"),
        ([[]] * 200_000, "100,000 items"),
        (dict.fromkeys(map(str, range(100_001))), "100,000 items"),
        (nested(17), "16 deep"),
    ],
)
def test_what_cannot_travel_is_named(value: Any, says: str) -> None:
    with pytest.raises(wire.WireError, match=says):
        wire.encode([value])


def test_the_deepest_and_the_longest_that_may_travel_do() -> None:
    assert same(wire.decode(wire.encode([nested(15)]))[0], nested(15))
    assert len(wire.decode(wire.encode([0] * 99_999))) == 99_999


def test_a_decoded_array_is_the_readers_own() -> None:
    array = wire.decode(wire.encode([np.zeros(3)]))[0]
    array[0] = 1
    assert array.flags.owndata
    assert array.flags.writeable


def message(value: Any) -> bytes:
    return msgspec.msgpack.encode(value)


def extension(code: int, data: bytes) -> bytes:
    return message(msgspec.msgpack.Ext(code, data))


def tuple_bomb(depth: int) -> bytes:
    data = b"\x90"
    for _ in range(depth):
        data = b"\x91" + extension(1, data)
    return data


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xc1",
        b"\xdd\xff\xff\xff\xff" + b"\x90" * 1000,
        b"\x91" * 90_000 + b"\x90",
        b"\xdc\xff\xff" * 60_000,
        message([[]] * 100_001),
        message({"x": [0] * 100_001}),
        extension(1, message([0] * 100_001)),
        extension(1, message(5)),
        extension(1, b""),
        tuple_bomb(20),
        tuple_bomb(5_000),
        extension(2, b""),
        extension(2, bytes([99, 0])),
        extension(2, bytes([1, 1, 255, 255, 255, 255])),
        extension(2, bytes([1, 1, 2, 0, 0, 0, 7])),
        extension(2, bytes([1, 255]) + b"\x00" * 8),
        extension(7, b"anything"),
        extension(-1, b"\x00\x00\x00\x00"),
        message({None: 1}),
        message({(1, 2): 1}),
        message(nested(17)),
        message("x")[:1] + b"\xff",
    ],
)
def test_hostile_messages_are_refused(data: bytes) -> None:
    for wrapped in (data, b"\x91" + data):
        with pytest.raises(wire.WireError):
            wire.decode(wrapped)


def test_eight_megabytes_of_empty_lists_are_refused_before_they_are_built() -> None:
    data = b"\xdd" + (8_000_000).to_bytes(4, "big") + b"\x90" * 8_000_000
    tracemalloc.start()
    try:
        with pytest.raises(wire.WireError, match="items"):
            wire.decode(data)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def only_known_types(value: Any) -> bool:
    if isinstance(value, dict):
        return (
            type(value) is dict
            and all(type(key) in (str, int) for key in value)
            and all(map(only_known_types, value.values()))
        )
    if isinstance(value, (list, tuple)):
        return type(value) in (list, tuple) and all(map(only_known_types, value))
    known = {type(None), bool, int, float, str, bytes, np.ndarray, *(np.dtype(kind).type for kind in TYPES)}
    return type(value) in known


@given(st.binary(max_size=200))
@example(b"\x91\x81\xc0\x01")
def test_any_bytes_are_refused_or_give_known_types(data: bytes) -> None:
    with contextlib.suppress(wire.WireError):
        assert only_known_types(wire.decode(data))


@given(values, st.data())
def test_damaged_messages_are_refused_or_give_known_types(value: Any, data: st.DataObject) -> None:
    damaged = bytearray(wire.encode([value]))
    for _ in range(data.draw(st.integers(1, 3))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(wire.WireError):
        assert only_known_types(wire.decode(bytes(damaged)))
