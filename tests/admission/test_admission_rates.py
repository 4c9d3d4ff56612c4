"""Rates with their uncertainty."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spade_envs.admission.rates import against, p_more, p_shorter, wilson

COUNTS = st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(COUNTS)
def test_the_interval_holds_the_rate_and_narrows(count: tuple[int, int]) -> None:
    won, played = count
    low, high = wilson(won, played)
    assert 0 <= low <= won / played <= high <= 1
    wider_low, wider_high = low, high
    low, high = wilson(10 * won, 10 * played)
    assert high - low < wider_high - wider_low


@given(COUNTS)
def test_winning_and_losing_are_mirror_images(count: tuple[int, int]) -> None:
    won, played = count
    low, high = wilson(won, played)
    assert wilson(played - won, played) == pytest.approx((1 - high, 1 - low))


def test_known_intervals() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    assert wilson(10, 20) == pytest.approx((0.2993, 0.7007), abs=1e-4)
    assert wilson(0, 12) == pytest.approx((0.0, 0.2425), abs=1e-4)


def test_the_limit_is_broken_only_when_the_lower_end_exceeds_it() -> None:
    assert against(0, 12, 0.25) == "within"
    assert against(0, 11, 0.25) == "undecided"
    assert against(50, 200, 0.25) == "undecided"
    assert against(63, 200, 0.25) == "broken"


def test_fishers_exact_test() -> None:
    assert p_more(3, 4, 1, 4) == pytest.approx(17 / 70)
    assert p_more(0, 4, 4, 4) == 1
    assert p_more(20, 100, 2, 100) < 1e-4


@given(st.lists(st.integers(1, 9), min_size=2, max_size=30))
def test_equal_samples_are_not_shorter(values: list[int]) -> None:
    assert p_shorter(values, values) >= 0.5


def test_rank_sum_orders_samples() -> None:
    assert p_shorter([1, 2, 3] * 7, [4, 5, 6] * 7) < 1e-6
    assert p_shorter([4, 5, 6] * 7, [1, 2, 3] * 7) > 0.99
    assert p_shorter([5] * 20, [5] * 20) == 1
