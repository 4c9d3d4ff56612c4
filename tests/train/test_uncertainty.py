"""Closed forms against tables and against each other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spade_train.rewards.uncertainty import Tally, p_at_least, p_fewer, student, wilson

COUNTS = (
    st.integers(1, 30).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))).map(lambda p: Tally(*p))
)


@pytest.mark.parametrize(
    ("freedom", "quantile"), [(3, 3.182), (4, 2.776), (5, 2.571), (10, 2.228), (30, 2.042), (120, 1.980)]
)
def test_students_quantiles_are_those_of_the_tables(freedom: int, quantile: float) -> None:
    assert student(freedom) == pytest.approx(quantile, rel=0.002)


def test_tails_by_hand() -> None:
    assert p_fewer(Tally(0, 2), Tally(2, 2)) == pytest.approx(1 / 6)
    assert p_at_least(2, 3, 0.5) == pytest.approx(0.5)


@given(COUNTS, COUNTS)
def test_tails_are_probabilities_and_grow_with_the_wins(now: Tally, before: Tally) -> None:
    p = p_fewer(now, before)
    assert 0 < p <= 1 + 1e-12
    if now.wins < now.plays:
        more = Tally(now.wins + 1, now.plays)
        fewer = Tally(max(0, before.wins - 1), before.plays)
        if before.wins:
            assert p_fewer(more, fewer) >= p - 1e-12


@given(COUNTS)
def test_wilson_holds_the_rate(tally: Tally) -> None:
    low, high = wilson(*tally)
    assert 0 <= low <= tally.rate <= high <= 1
