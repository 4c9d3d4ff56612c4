"""Values are made their space's own, or refused with what was found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given
from hypothesis import strategies as st

from spade_envs.contract import UnicodeText
from spade_envs.isolation.conform import OutsideError, checker

BYTES = spaces.Box(0, 255, (2,), np.uint8)
SMALL = spaces.Box(0, 9, (2,), np.uint8)
UNIT = spaces.Box(0, 1, (2,), np.float32)
PAIR = spaces.Tuple([spaces.Discrete(2), spaces.Text(3)])
STATE = spaces.Dict({"a": spaces.Discrete(2), "b": UNIT})

ACCEPTED: list[tuple[spaces.Space[Any], Any, Any]] = [
    (spaces.Discrete(4), 3, 3),
    (spaces.Discrete(4), np.int64(3), 3),
    (spaces.Discrete(4), np.array(3), 3),
    (spaces.Discrete(4), True, 1),
    (spaces.Discrete(4, start=-2), -2, -2),
    (spaces.MultiDiscrete([3, 4]), [2, 3], np.array([2, 3])),
    (spaces.MultiDiscrete([3, 4], start=[1, 1]), np.array([3, 4], np.int8), np.array([3, 4])),
    (spaces.MultiBinary(2), np.array([True, False]), np.array([1, 0], np.int8)),
    (SMALL, np.array([1, 2]), np.array([1, 2], np.uint8)),
    (BYTES, np.array([0, 255], np.uint8), np.array([0, 255], np.uint8)),
    (UNIT, [0, 1], np.array([0, 1], np.float32)),
    (UNIT, np.array([0.1, 1 + 1e-12]), np.array([0.1, 1], np.float32)),
    (spaces.Box(0, 1, ()), 0.5, np.array(0.5, np.float32)),
    (spaces.Text(3), "abc", "abc"),
    (UnicodeText(3), "é 漢", "é 漢"),
    (UnicodeText(3), "", ""),
    (PAIR, [1, "a"], (1, "a")),
    (STATE, {"b": [0, 0], "a": 1}, {"a": 1, "b": np.zeros(2, np.float32)}),
]

REFUSED: list[tuple[spaces.Space[Any], Any, str]] = [
    (spaces.Discrete(4), 4, "4 is not in 0 to 3"),
    (spaces.Discrete(4), -1, "not in"),
    (spaces.Discrete(4), 2.0, "no whole number"),
    (spaces.Discrete(4), "2", "no whole number"),
    (spaces.Discrete(4), None, "no whole number"),
    (spaces.Discrete(4), np.array([2]), "no whole number"),
    (spaces.MultiDiscrete([3, 4]), [2, 4], "not within"),
    (spaces.MultiDiscrete([3, 4]), [0.0, 1.0], "array of float64"),
    (SMALL, np.array([1, 258]), "not within"),  # 258 is 2 in eight bits
    (BYTES, np.array([1, 258]), "not within"),
    (BYTES, np.array([-1, 0]), "not within"),
    (BYTES, np.array([1], np.uint8), r"shape \(1,\)"),
    (UNIT, np.array([0.5, np.nan]), "not within"),
    (UNIT, np.array([0.5, 1e300]), "not within"),
    (UNIT, np.array([0.5, 1.1], np.float32), "not within"),
    (UNIT, "ab", "no array"),
    (UNIT, [[1], [1, 2]], "no array"),
    (UNIT, ["a", "b"], "array of <U1"),
    (spaces.Text(3), "abcd", "4 characters"),
    (spaces.Text(3), "", "0 characters"),
    (spaces.Text(3), "é", "characters that the space lacks"),
    (spaces.Text(3), 5, "no text"),
    (UnicodeText(3), "\ud800", "characters that the space lacks"),
    (PAIR, (1,), "tuple of 2"),
    (PAIR, (2, "a"), "0.*2 is not in"),
    (PAIR, "ab", "0.*no whole number|tuple of 2"),
    (STATE, {"a": 1}, "keys a where the space has a, b"),
    (STATE, {"a": 1, "b": [0, 0], "c": 0}, "keys"),
    (STATE, [1, 2], "keys"),
    (STATE, {"a": 1, "b": [0, 2]}, "'b'.*not within"),
]


@pytest.mark.parametrize(("space", "value", "expected"), ACCEPTED, ids=str)
def test_values_become_the_spaces_own(space: spaces.Space[Any], value: Any, expected: Any) -> None:
    got = checker(space)(value)
    assert type(got) is type(expected)
    np.testing.assert_equal(got, expected)
    assert got in space
    if isinstance(got, np.ndarray):
        assert got.dtype == space.dtype


@pytest.mark.parametrize(("space", "value", "says"), REFUSED, ids=str)
def test_what_lies_outside_is_named(space: spaces.Space[Any], value: Any, says: str) -> None:
    with pytest.raises(OutsideError, match=says):
        checker(space)(value)


numbers = st.integers(-300, 300)


@given(st.lists(numbers, min_size=2, max_size=2), st.sampled_from([np.int8, np.uint8, np.int16]))
def test_the_check_agrees_with_gymnasium_on_whole_numbers(value: list[int], dtype: Any) -> None:
    space = spaces.Box(np.array([0, -5]).astype(np.int8), np.array([100, 5]).astype(np.int8), dtype=np.int8)
    array = np.array(value)
    inside = bool(np.all(array >= space.low) and np.all(array <= space.high))
    try:
        checker(space)(array)
        assert inside
    except OutsideError:
        assert not inside
