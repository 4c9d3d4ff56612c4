"""Regret and its interval; where further seeds go; the curriculum's draw."""

from __future__ import annotations

import random
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st
from interval import WORLDS, coverage

from spade_train.curriculum import uniform
from spade_train.rewards.regret import Regret, more_seeds, paired_regret

Sides = dict[int, list[float]]
RETURNS = st.lists(st.floats(-1, 1), min_size=2, max_size=6)
SIDES = st.dictionaries(st.integers(0, 5), RETURNS, min_size=1)
REGRETS = st.dictionaries(
    st.sampled_from("abcde"),
    st.builds(
        lambda mean, half, seeds: Regret(mean, half / 2, mean - half, mean + half, seeds, 2 * seeds),
        st.floats(-1, 1),
        st.floats(0.01, 2),
        st.integers(1, 12),
    ),
)


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


@given(SIDES, SIDES, st.randoms())
def test_order_means_nothing(plain: Sides, hinted: Sides, rng: random.Random) -> None:
    def shuffled(side: Sides) -> Sides:
        seeds = rng.sample(sorted(side), len(side))
        return {seed: rng.sample(side[seed], len(side[seed])) for seed in seeds}

    assert paired_regret(shuffled(plain), shuffled(hinted)) == paired_regret(plain, hinted)


@given(SIDES)
def test_equal_plays_have_no_regret(plays: Sides) -> None:
    regret = paired_regret(plays, plays)
    assert regret is not None
    assert regret.mean == 0
    assert regret.low == pytest.approx(-regret.high)
    assert not regret.negative


@given(SIDES, SIDES)
def test_the_interval_holds_the_mean_and_swaps_with_the_sides(plain: Sides, hinted: Sides) -> None:
    regret, back = paired_regret(plain, hinted), paired_regret(hinted, plain)
    if regret is None or back is None:
        assert regret is back
        return
    assert -2 <= regret.low <= regret.mean <= regret.high <= 2
    assert regret.half_width > 0
    assert (back.low, back.mean, back.high) == pytest.approx((-regret.high, -regret.mean, -regret.low))
    both = plain.keys() & hinted.keys()
    assert regret.seeds == len(both)
    assert regret.plays == sum(len(plain[seed]) + len(hinted[seed]) for seed in both)


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize(("group", "seeds"), [(1, 8), (4, 2), (4, 4), (8, 3), (8, 16)])
def test_the_interval_covers(world: str, group: int, seeds: int) -> None:
    """0.95 wished; 400 runs have a standard error of 0.011. Discrete returns allow no exact interval."""
    assert coverage(WORLDS[world], group, seeds, 400)[0] >= 0.92


def test_the_interval_of_one_seed_covers_its_plays() -> None:
    rng, held = random.Random(0), 0
    for _ in range(400):
        plain, hinted = ([float(rng.random() < p) for _ in range(8)] for p in (0.2, 0.8))
        regret = paired_regret({0: plain}, {0: hinted})
        assert regret is not None
        held += regret.low <= 0.6 <= regret.high
    assert held / 400 >= 0.92


def test_a_hint_that_misleads_is_called_negative() -> None:
    sure = paired_regret(dict.fromkeys(range(8), [1.0] * 4), dict.fromkeys(range(8), [0.0] * 4))
    unsure = paired_regret({0: [1.0], 1: [0.0]}, {0: [0.0], 1: [0.0]})
    assert sure is not None
    assert unsure is not None
    assert (sure.mean, sure.negative) == (-1, True)
    assert (unsure.mean, unsure.negative) == (-0.5, False)


@given(REGRETS, st.floats(0.05, 1), st.integers(0, 200), st.integers(1, 16))
def test_seeds_are_added_within_the_budget(
    regrets: dict[str, Regret], wished: float, plays: int, cost: int
) -> None:
    extra = more_seeds(regrets, wished, plays=plays, cost=cost)
    assert sum(extra.values()) * cost <= plays
    assert all(0 < count <= regrets[name].seeds for name, count in extra.items())
    assert all(regrets[name].half_width > wished or regrets[name].seeds < 2 for name in extra)


@given(REGRETS, st.floats(0.05, 1), st.floats(0.05, 1), st.integers(0, 100), st.integers(0, 100))
def test_cost_is_monotone(regrets: dict[str, Regret], a: float, b: float, few: int, many: int) -> None:
    def seeds(wished: float, plays: int) -> dict[str, int]:
        return more_seeds(regrets, wished, plays=plays, cost=2)

    fewer, more = (seeds(a, plays) for plays in sorted((few, many)))
    assert all(more[name] >= count for name, count in fewer.items())
    narrow, wide = (sum(seeds(wished, many).values()) for wished in sorted((a, b)))
    assert narrow >= wide


def test_the_widest_goes_first() -> None:
    def known(half: float, seeds: int) -> Regret:
        return Regret(0.0, half, -half, half, seeds, 2 * seeds)

    regrets = {"wide": known(0.8, 4), "narrow": known(0.1, 4), "one": known(0.3, 1), "middle": known(0.6, 4)}
    assert more_seeds(regrets, 0.2, plays=16, cost=16) == {"one": 1}
    assert more_seeds(regrets, 0.2, plays=47, cost=16) == {"one": 1, "wide": 1}
    assert more_seeds(regrets, 0.2, plays=10_000, cost=16) == {"one": 1, "wide": 4, "middle": 4}
    assert more_seeds(regrets, 0.9, plays=10_000, cost=16) == {"one": 1}


def test_adding_seeds_until_it_is_narrow_ends_there() -> None:
    rng = random.Random(0)
    plain: Sides = {}
    hinted: Sides = {}
    wanted, spent = 1, 0
    while wanted:
        for seed in range(len(plain), len(plain) + wanted):
            plain[seed], hinted[seed] = ([float(rng.random() < p) for _ in range(4)] for p in (0.3, 0.6))
        spent += 8 * wanted
        regret = paired_regret(plain, hinted)
        assert regret is not None
        wanted = more_seeds({"e": regret}, 0.2, plays=2000 - spent, cost=8).get("e", 0)
    assert regret.half_width <= 0.2
    assert regret.plays == spent < 2000


@given(st.integers(1, 6), st.integers(0, 20), st.randoms())
def test_the_curriculum_repeats_nothing_before_all_have_come(size: int, count: int, rng: object) -> None:
    pool = [f"e{n}" for n in range(size)]
    drawn = uniform(pool, count, rng)  # type: ignore[arg-type]
    counts = [drawn.count(name) for name in pool]
    assert len(drawn) == count
    assert max(counts) - min(counts) <= 1
