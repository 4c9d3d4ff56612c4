"""Observations go through memory unchanged, whatever their space, and leave only a gap in the message."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given
from hypothesis import strategies as st
from small_designs import design

from spade_envs.contract import Rejection
from spade_envs.errors import WorkerFault
from spade_envs.isolation import Limits, Worker, wire
from spade_envs.isolation.conform import checker
from spade_envs.isolation.places import filler, lay_out, size_of
from spade_envs.isolation.session import Session

LEAVES = st.sampled_from(
    [
        spaces.Discrete(5),
        spaces.Text(4),
        spaces.MultiBinary(3),
        spaces.MultiDiscrete([3, 4]),
        spaces.Box(-1, 1, (2, 3), np.float64),
        spaces.Box(0, 255, (5,), np.uint8),
        spaces.Box(-np.inf, np.inf, (1,), np.float32),
        spaces.Box(0, 1, ()),
    ]
)
SPACES: Any = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3).map(spaces.Tuple)
        | st.dictionaries(st.sampled_from("cab"), inner, min_size=1).map(spaces.Dict)
    ),
    max_leaves=6,
)


def same(one: Any, other: Any) -> bool:
    np.testing.assert_equal(one, other)
    return True


@given(SPACES, st.integers(0, 9), st.integers(0, 3))
def test_what_is_put_there_is_what_comes_out(space: Any, seed: int, block: int) -> None:
    space.seed(seed)
    memory = memoryview(bytearray(64 * block + size_of(space)))
    fill = filler(lay_out(space, memory, 64 * block))
    check = checker(space, lay_out(space, memory, 64 * block))
    for _ in range(3):
        value = space.sample()
        assert same(check(fill(value) if fill else value), value)
    assert not any(memory[: 64 * block])


@given(SPACES)
def test_only_spaces_with_arrays_have_places(space: Any) -> None:
    memory = memoryview(bytearray(size_of(space)))
    assert (filler(lay_out(space, memory, 0)) is None) == (size_of(space) == 0)


def test_the_order_of_keys_does_not_matter() -> None:
    parts = {"b": spaces.Box(0, 9, (2,), np.uint8), "a": spaces.Box(0, 9, (3,), np.uint8)}
    one, other = spaces.Dict(list(parts.items())), spaces.Dict(list(reversed(parts.items())))
    memory = memoryview(bytearray(size_of(one)))
    value = {"b": np.array([1, 2], np.uint8), "a": np.array([3, 4, 5], np.uint8)}
    fill = filler(lay_out(one, memory, 0))
    assert fill is not None
    assert same(checker(other, lay_out(other, memory, 0))(fill(value)), value)


@pytest.mark.parametrize("value", [[0.5, 0.5], np.zeros(2), np.zeros(3, np.float32), {"a": 1}])
def test_a_value_of_another_form_stays_in_the_message(value: Any) -> None:
    space = spaces.Box(0, 1, (2,))
    fill = filler(lay_out(space, memoryview(bytearray(size_of(space))), 0))
    assert fill is not None
    assert fill(value) is value


def test_none_is_no_observation() -> None:
    source = design(
        observation_space="spaces.Dict(a=spaces.Box(0, 9, (2,), np.uint8))",
        observation="{'a': None if self._turn else np.ones(2, np.uint8)}",
    )
    worker = Worker.start()
    worker.load(source)
    worker.make()
    worker.reset(0, 0)
    with pytest.raises(WorkerFault, match="not in its space"):
        worker.step(0, 0)
    worker.close()


def test_a_worker_leaves_large_observations_out_of_its_replies() -> None:
    source = design(
        observation_space="spaces.Box(0, 255, (84, 84), np.uint8)", observation="np.zeros((84, 84), np.uint8)"
    )
    replies = {}
    for memory in (None, memoryview(bytearray(1 << 16))):
        session = Session(Limits(), memory)
        for request in (["load", source, None], ["make", {}], ["reset", 0, 0, None]):
            reply = session.answer(wire.encode(request))
        replies[memory is None] = reply
        assert not isinstance(wire.decode(reply), Rejection)
    assert len(replies[True]) > 84 * 84 > 200 > len(replies[False])


def test_where_the_memory_is_full_observations_stand_in_the_replies() -> None:
    source = design(
        observation_space="spaces.Box(0, 9, (100,), np.uint8)", observation="np.zeros(100, np.uint8)"
    )
    session = Session(Limits(), memoryview(bytearray(300)))
    session.answer(wire.encode(["load", source, None]))
    described = [wire.decode(session.answer(wire.encode(["make", {}])))[2]["places"] for _ in range(4)]
    assert described == [0, 128, None, None]
