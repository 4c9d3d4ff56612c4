"""Regret and rewards are what their formulas say."""

from __future__ import annotations

from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spade_train.curriculum import choose
from spade_train.regret import agent_reward, blend, floored_regret, paired_regret, plateau

RETURNS = st.lists(st.floats(-1, 1), min_size=2, max_size=6)
RATES = st.floats(0, 1)


@given(RETURNS, RETURNS)
def test_regret_of_one_seed_is_the_difference_of_means(plain: list[float], hinted: list[float]) -> None:
    regret = paired_regret({7: plain}, {7: hinted})
    assert regret is not None
    assert regret.mean == pytest.approx(fmean(hinted) - fmean(plain))
    assert regret.error is not None
    assert regret.error >= 0


@given(st.dictionaries(st.integers(0, 9), RETURNS, min_size=2), st.floats(-1, 1))
def test_what_only_the_seed_decides_cancels(returns: dict[int, list[float]], gain: float) -> None:
    hinted = {seed: [value + gain for value in values] for seed, values in returns.items()}
    regret = paired_regret(returns, hinted)
    assert regret is not None
    assert regret.mean == pytest.approx(gain, abs=1e-9)
    assert regret.error == pytest.approx(0, abs=1e-7)


@given(RETURNS)
def test_seeds_that_were_played_one_way_only_are_left_out(values: list[float]) -> None:
    assert paired_regret({1: values, 2: []}, {2: values, 3: values}) is None
    alone = paired_regret({1: values, 4: values}, {1: values, 3: values})
    assert alone is not None
    assert alone.mean == 0


def test_one_play_has_no_error_that_could_be_known() -> None:
    regret = paired_regret({1: [0.0]}, {1: [1.0]})
    assert regret is not None
    assert (regret.mean, regret.error) == (1.0, None)


def test_errors_by_hand() -> None:
    one = paired_regret({1: [0.0, 1.0]}, {1: [1.0, 1.0]})
    assert one is not None
    assert one.error == pytest.approx(0.5)  # variance 0.5 of two plays, and none
    several = paired_regret({1: [0.0], 2: [0.0]}, {1: [1.0], 2: [0.0]})
    assert several is not None
    assert several.error == pytest.approx(0.5)  # sd of (1, 0) is 0.707; over the root of 2


@pytest.mark.parametrize(
    ("success", "worth"), [(0.4, 1), (0.5, 1), (0.6, 1), (0.15, 0), (0.85, 0), (0.275, 0.5), (0, 0), (1, 0)]
)
def test_the_plateau(success: float, worth: float) -> None:
    assert plateau(success) == pytest.approx(worth)


@given(RATES, st.floats(-1, 1))
def test_designer_rewards_are_bounded_and_pay_for_regret(success: float, regret: float) -> None:
    assert 0 <= blend(success, regret) <= 1
    assert blend(success, regret) <= blend(success, regret + 0.1)
    assert floored_regret(success, regret) == max(0.0, regret)
    assert blend(0.5, 0.15) == pytest.approx(1.0)


@given(RATES, RATES, RATES, RATES, st.floats(0, 0.99))
def test_form_never_lifts_a_failure_over_a_success(
    better: float, worse: float, form: float, other: float, term: float
) -> None:
    worse, better = sorted((worse, better))
    won = agent_reward(better, True, form, term)
    assert won >= agent_reward(worse, False, other, term)


@given(st.integers(1, 6), st.integers(0, 20), st.randoms())
def test_the_curriculum_repeats_nothing_before_all_have_come(size: int, count: int, rng: object) -> None:
    pool = [f"e{n}" for n in range(size)]
    drawn = choose(pool, count, rng)  # type: ignore[arg-type]
    counts = [drawn.count(name) for name in pool]
    assert len(drawn) == count
    assert max(counts) - min(counts) <= 1
