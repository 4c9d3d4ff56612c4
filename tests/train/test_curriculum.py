"""What is played next: levels, worth, shares, and whether a simulated learner gets further by it."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st
from learner import by_chance, by_worth, learn, world

from spade_train.curriculum import Band, Candidate, Ladder, Learnt, Result, Shares, Track, choose, worth
from spade_train.rewards.uncertainty import Tally, total

LADDER = Ladder()
TALLIES = st.builds(lambda wins, lost: Tally(wins, wins + lost), st.integers(0, 8), st.integers(0, 8))
RESULTS = st.lists(
    st.builds(
        Result, st.sampled_from("abc"), st.integers(1, 3), st.just(3), TALLIES, st.none() | st.floats(-1, 1)
    ),
    max_size=6,
)


def after(*rounds: list[Result]) -> Learnt:
    learnt = Learnt()
    for number, results in enumerate(rounds):
        learnt = learnt.after(number, results, LADDER)
    return learnt


def won(wins: int, plays: int = 8, level: int = 1, env_id: str = "a") -> Result:
    return Result(env_id, level, 3, Tally(wins, plays))


@given(st.lists(TALLIES))
def test_a_window_is_as_short_as_it_may_be(rounds: list[Tally]) -> None:
    window = LADDER.window(rounds)
    assert window == tuple(rounds[len(rounds) - len(window) :])
    if len(window) < len(rounds):
        assert total(window).plays >= LADDER.plays
    assert total(window[1:]).plays < LADDER.plays


@pytest.mark.parametrize(
    ("rounds", "level"),
    [
        ([won(8)], 2),
        ([won(7)], 1),  # 0.875
        ([won(4, 4)], 1),  # too few plays
        ([won(4, 4), won(4, 4)], 2),
        ([won(0, 4), won(4, 4), won(4, 4)], 2),  # what left the window is forgiven
        ([won(4, 4), won(0, 0), won(4, 4)], 2),
        ([won(8), won(8, level=2), won(8, level=3), won(8, level=3)], 3),
        ([won(8), won(8, level=1)], 2),  # a play of the easiest level, as a reference
        ([won(8), won(0, level=2), won(0, level=2)], 2),  # there is no way down
        ([won(4, 4), won(4, 4, env_id="b")], 1),
    ],
)
def test_levels_rise_by_nine_of_ten_plays_out_of_eight(rounds: list[Result], level: int) -> None:
    assert after(*([one] for one in rounds)).of("a").level == level


def test_blocks_of_one_round_count_together() -> None:
    assert after([won(4, 4), won(4, 4)]).of("a") == replace(after([won(8)]).of("a"), rounds=1)
    assert after([won(8), won(2, 8)]).of("a").plays == Tally(10, 16)


@given(st.lists(RESULTS, max_size=6))
def test_what_was_learned_survives_json(rounds: list[list[Result]]) -> None:
    learnt = after(*rounds)
    assert Learnt.from_state(json.loads(json.dumps(learnt.state()))) == learnt


@given(st.lists(RESULTS, max_size=4), st.integers(0, 12), st.integers(), st.floats(0, 0.5), st.floats(0, 0.5))
def test_a_choice_follows_from_what_it_is_given(
    rounds: list[list[Result]], count: int, seed: int, replay: float, fixed: float
) -> None:
    learnt = after(*rounds)
    candidates = [Candidate("a", fixed=True), Candidate("b", mastered=True), Candidate("d", shut=True)]
    shares = Shares(replay, fixed)
    chosen, again = (choose(candidates, learnt, count, 9, random.Random(seed), shares) for _ in range(2))
    assert chosen == again
    assert len(chosen) == count
    for one in chosen:
        assert one.env_id in {"a", "b", "d"}
        assert one.level in {1, learnt.of(one.env_id).level}
        assert one.why


def test_the_score_orders_environments_as_it_says() -> None:
    base = Track(window=(Tally(4, 8),), regret=0.2, last=1, rounds=3)
    weak = {"logic": 0.9, "maths": 0.2}
    score = worth(base, ("maths",), weak, Band()).score
    assert worth(replace(base, window=(Tally(7, 8),)), ("maths",), weak, Band()).score < score
    assert worth(replace(base, window=(Tally(0, 8),)), ("maths",), weak, Band()).score < score / 10
    assert worth(replace(base, regret=0.6), ("maths",), weak, Band()).score > score
    assert worth(replace(base, regret=-0.5), ("maths",), weak, Band()).score < score
    assert worth(base, ("maths", "logic"), weak, Band()).score > score
    assert worth(replace(base, rounds=1), ("maths",), weak, Band()).score > score
    said = worth(base, ("maths", "logic"), weak, Band()).said
    assert said == "success 4 of 8 lies in the band, regret +0.20, weakness 0.90 in logic"


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_the_band_is_a_plateau(low: float, high: float, rate: float) -> None:
    band = Band(min(low, high), max(low, high))
    assert (band.nearness(rate) == 1) >= (rate in band)
    assert 0 <= band.nearness(rate) <= 1
    assert band.nearness(0.9) <= band.nearness(0.8) or band.high > 0.8


def test_shares_are_kept_over_rounds() -> None:
    mastered = [Candidate(f"m{n}", mastered=True) for n in range(3)]
    candidates = [*mastered, Candidate("seed", fixed=True), *(Candidate(f"e{n}") for n in range(4))]
    learnt = after(
        [Result("seed", 1, 3, Tally(8, 8)), *(Result(f"e{n}", 1, 1, Tally(4, 8)) for n in range(4))]
    )
    assert learnt.of("seed").level == 2
    shares, rng = Shares(replay=0.15, fixed=0.25), random.Random(0)
    chosen = [one for number in range(400) for one in choose(candidates, learnt, 5, number, rng, shares)]
    replayed = [one for one in chosen if one.env_id.startswith("m")]
    reference = [one for one in chosen if "fixed reference" in one.why]
    assert len(replayed) / len(chosen) == pytest.approx(0.15, abs=0.02)
    assert len(reference) / len(chosen) == pytest.approx(0.25, abs=0.02)
    assert all("mastered" in one.why for one in replayed)
    assert {(one.env_id, one.level) for one in reference} == {("seed", 1)}, "at its easiest level throughout"
    assert {one.level for one in chosen if one.env_id == "seed" and one not in reference} == {2}


def test_those_that_waited_longest_are_replayed_first() -> None:
    learnt = Learnt(
        {name: Track(last=last, rounds=1) for name, last in (("new", 8), ("old", 2), ("older", 1))}
    )
    candidates = [*(Candidate(name, mastered=True) for name in learnt.tracks), Candidate("open")]
    chosen = choose(candidates, learnt, 2, 9, random.Random(0), Shares(replay=1.0, fixed=0.0))
    assert [one.env_id for one in chosen] == ["older", "old"]
    assert chosen[1].why == "mastered, last played 7 rounds ago: replayed against forgetting (share 1.00)"


def test_what_is_too_hard_is_looked_at_now_and_then() -> None:
    candidates = [Candidate("hard", shut=True), *(Candidate(f"e{n}") for n in range(9))]
    learnt = Learnt({one.env_id: Track(last=0, rounds=1, window=(Tally(4, 8),)) for one in candidates})
    rng, shares = random.Random(0), Shares(0, 0)
    drawn = Counter(choose(candidates, learnt, 1, 5, rng, shares)[0].env_id for _ in range(2000))
    assert 0 < drawn["hard"] / 2000 < 0.02
    assert min(drawn.values()) == drawn["hard"]


def test_a_mastered_environment_with_levels_left_goes_on() -> None:
    candidates = [Candidate("a", mastered=True)]
    (one,) = choose(candidates, after([won(8)]), 1, 1, random.Random(0), Shares())
    assert (one.level, "never played at this level" in one.why) == (2, True)


SEEDS, BLOCKS, ROUNDS = range(4), 8, 150


def test_a_simulated_learner_is_kept_in_the_band_and_masters_more_quickly() -> None:
    """Against uniform draws that climb the same ladder: success in the band, and a quarter of the rounds saved."""
    tasks, shares = world(), Shares()
    pairs = []
    for seed in SEEDS:
        lessons, taken = learn(tasks, by_worth(tasks, BLOCKS, shares), seed, ROUNDS, shares)
        _, uniform = learn(tasks, by_chance(tasks, BLOCKS), seed, ROUNDS, shares)
        within = [one for lesson in lessons[5:20] for one in lesson.by_worth]
        assert fmean(one.rate for one in within) in shares.band, seed
        pairs.append((taken, uniform))
    assert all(taken < 0.8 * uniform for taken, uniform in pairs), pairs
    assert fmean(taken for taken, _ in pairs) < 0.7 * fmean(uniform for _, uniform in pairs), pairs
