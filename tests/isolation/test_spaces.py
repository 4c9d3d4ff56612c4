"""Spaces travel as data and come out equal; no description makes the host build something large."""

from __future__ import annotations

import contextlib
import string
import time
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st

from spade_envs.contract import UnicodeText
from spade_envs.isolation import wire
from spade_envs.isolation.spaces import SpaceError, build, describe

SPACES: list[spaces.Space[Any]] = [
    spaces.Discrete(4),
    spaces.Discrete(3, start=-1, dtype=np.int32),
    spaces.Discrete(2**62),
    spaces.MultiDiscrete([3, 4, 5]),
    spaces.MultiDiscrete(np.array([[2, 3], [4, 5]]), start=np.array([[1, 1], [0, -2]]), dtype=np.int16),
    spaces.MultiBinary(5),
    spaces.MultiBinary([2, 3]),
    spaces.Box(0, 255, (84, 84, 3), np.uint8),
    spaces.Box(-1.0, 1.0, ()),
    spaces.Box(-np.inf, np.inf, (3,), np.float64),
    spaces.Box(np.array([0.0, -2.5]), np.array([1.0, np.inf]), dtype=np.float64),
    spaces.Box(np.arange(4, dtype=np.int8), np.full(4, 9, np.int8), dtype=np.int8),
    spaces.Box(0, 1, (2,), np.bool_),
    spaces.Text(20),
    spaces.Text(8, min_length=0, charset=string.digits + "é"),
    UnicodeText(100, min_length=2),
    spaces.Dict({"z": spaces.Discrete(2), "a": spaces.Tuple([spaces.Text(3), spaces.MultiBinary(2)])}),
    spaces.Tuple([spaces.Dict(x=spaces.Box(0, 1, (1,))), spaces.Discrete(3)]),
]


def travelled(space: Any) -> spaces.Space[Any]:
    return build(wire.decode(wire.encode(describe(space))))


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_spaces_come_out_equal(space: spaces.Space[Any]) -> None:
    built = travelled(space)
    assert built == space
    assert type(built) is type(space)
    assert built.dtype == space.dtype
    assert str(built) == str(space)
    space.seed(1)
    built.seed(1)
    assert wire.encode([built.sample()]) == wire.encode([space.sample()])


def test_spaces_of_a_designs_own_come_out_as_gymnasiums() -> None:
    class Own(spaces.Discrete):
        pass

    assert type(travelled(Own(3))) is spaces.Discrete


def deep(depth: int) -> spaces.Space[Any]:
    space: spaces.Space[Any] = spaces.Discrete(2)
    for _ in range(depth):
        space = spaces.Tuple([space])
    return space


@pytest.mark.parametrize(
    "space", [object(), spaces.Graph(spaces.Discrete(2), None), spaces.Sequence(spaces.Discrete(2)), deep(7)]
)
def test_other_spaces_are_refused(space: Any) -> None:
    with pytest.raises(SpaceError):
        describe(space)


BIG = np.float32(0)
HOSTILE: list[Any] = [
    None,
    [],
    ["Discrete"],
    ["Discrete", 0, 0, "<i8"],
    ["Discrete", 2**63, 0, "<i8"],
    ["Discrete", 2, 0, "<f8"],
    ["Discrete", 2, 0, "O"],
    ["Discrete", 2, 0, "no such type"],
    ["Discrete", "2", 0, "<i8"],
    ["MultiDiscrete", np.array([0, 1]), np.array([0, 0])],
    ["MultiDiscrete", np.array([1.5]), np.array([0.0])],
    ["MultiDiscrete", np.ones(2, np.int64), np.zeros(3, np.int64)],
    ["MultiBinary", 2**40],
    ["MultiBinary", [-1]],
    ["MultiBinary", [0]],
    ["Box", BIG, BIG, [100_000, 100_000]],
    ["Box", BIG, BIG, [2**62, 4]],
    ["Box", BIG, BIG, [-1]],
    ["Box", BIG, BIG, ["a"]],
    ["Box", np.float32(1), np.float32(0), [2]],
    ["Box", np.float32("nan"), np.float32(0), [2]],
    ["Box", np.float64(0), np.float32(0), [2]],
    ["Box", np.zeros(3), np.zeros(3), [2]],
    ["Box", 0.0, 1.0, [2]],
    ["Text", 2**40, 0, None],
    ["Text", 1, 5, None],
    ["Text", 5, -1, "ab"],
    ["Text", 5, 0, 7],
    ["Dict", []],
    ["Dict", [[1, ["Discrete", 2, 0, "<i8"]]]],
    ["Dict", [["a"]]],
    ["Dict", 5],
    ["Tuple", [["Box", BIG, BIG, [1 << 20]]] * 100],
    ["Tuple", [["Discrete", 2, 0, "<i8"]] * 20_000],
    describe(deep(6)) and ["Tuple", [describe(deep(6))]],
    ["Graph", {}],
]


@pytest.mark.parametrize("data", HOSTILE, ids=lambda data: str(data)[:50])
def test_hostile_descriptions_are_refused_at_once(data: Any) -> None:
    begin = time.process_time()
    with pytest.raises(SpaceError):
        build(data)
    assert time.process_time() - begin < 1


leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just(np.zeros(2))
garbage = st.recursive(leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner))
kinds = st.sampled_from(["Discrete", "MultiDiscrete", "MultiBinary", "Box", "Text", "Dict", "Tuple"])


@settings(max_examples=60)
@given(garbage | st.tuples(kinds, garbage, garbage, garbage).map(list))
def test_any_description_gives_a_space_or_a_refusal(data: Any) -> None:
    with contextlib.suppress(SpaceError):
        assert isinstance(build(data), spaces.Space)
