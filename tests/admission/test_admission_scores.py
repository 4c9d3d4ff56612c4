"""Scores are pure functions: each is shown evidence that was made up."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from designs import HONEST
from hypothesis import given
from hypothesis import strategies as st

from spade_envs.admission import scores
from spade_envs.admission.evidence import Episode, Evidence, Fault
from spade_envs.admission.scores import Probe
from spade_envs.admission.settings import Frontier, Settings, Weights
from spade_envs.admission.sheet import GateResult
from spade_envs.admission.stability import cliffs_delta, evenness, margin, order, stability
from spade_envs.contract import Header, parse_header
from spade_envs.errors import UsageError

EXPERT = Episode("expert", 1, 0, (1,) * 8, 1.0, terminated=True, success=True, trace=(1, 2))
RANDOM = Episode("uniform", 1, 0, (1,) * 8, 0.0, truncated=True)


def evidence(*episodes: Episode, levels: int | None = 1, limit: int = 16, **changes: Any) -> Evidence:
    header = parse_header(HONEST)
    assert isinstance(header, Header)
    header = replace(header, difficulty_levels=levels, max_episode_steps=limit)
    return Evidence(header, episodes=list(episodes), **changes)


def random_play(won: int, lost: int, level: int = 1) -> list[Episode]:
    return [replace(RANDOM, level=level, success=True)] * won + [replace(RANDOM, level=level)] * lost


@pytest.mark.parametrize(
    ("won", "lost", "steps", "expected"),
    [
        (0, 20, 16, 1.0),  # chance never wins, and the expert needs every step
        (0, 20, 8, 0.85),
        (5, 15, 8, 0.15),  # chance wins a quarter: all that a short cut may
        (2, 18, 8, 0.7 * 0.6 + 0.15),
        (20, 0, 0, 0.0),
    ],
)
def test_difficulty(won: int, lost: int, steps: int, expected: float) -> None:
    seen = evidence(replace(EXPERT, actions=(1,) * steps), *random_play(won, lost))
    assert scores.difficulty(seen) == pytest.approx(expected)


def test_difficulty_is_the_mean_over_the_levels() -> None:
    second = replace(EXPERT, level=2, actions=(1,) * 16)
    seen = evidence(EXPERT, second, *random_play(5, 15), *random_play(0, 20, level=2), levels=2)
    assert scores.difficulty(seen) == pytest.approx((0.15 + 1.0) / 2)


def test_a_short_task_is_not_hard_for_its_length() -> None:
    one = replace(EXPERT, actions=(1,))
    assert scores.difficulty(evidence(one, *random_play(0, 20), limit=1)) == pytest.approx(0.73)


def test_diversity_is_the_distance_that_the_novelty_gate_saw() -> None:
    assert scores.nearest([GateResult("form", True, {"distance": 0.1})]) is None
    assert scores.nearest([GateResult("novelty", True, {"distance": 0.4, "nearest": "spade/A-v0"})]) == 0.4
    assert scores.nearest([GateResult("novelty", True, {"distance": None})]) is None
    assert [scores.diversity(d) for d in (None, 0.4, 1.7, -1.0)] == [1.0, 0.4, 1.0, 0.0]


def test_stability_falls_with_differing_replays_and_faults() -> None:
    same = (EXPERT, replace(EXPERT, policy="again"))
    other = (EXPERT, replace(EXPERT, trace=(1, 9)))
    assert stability(evidence(EXPERT, pairs=[same]), Settings()) == 1.0
    assert stability(evidence(EXPERT, pairs=[same, other]), Settings()) == 0.5
    assert stability(evidence(EXPERT, replace(RANDOM, fault=Fault("raised", "step"))), Settings()) == 0.5
    assert stability(evidence(), Settings()) == 1.0


@pytest.mark.parametrize(
    ("lengths", "returns", "expected"),
    [
        ((8, 8), (1.0, 1.0), 1.0),
        ((4, 12), (1.0, 1.0), 1 / 1.5),  # the coefficient of variation is a half
        ((8, 8), (1.0, 0.5), 0.75),
        ((1, 1), (1.0, 1.0), 1.0),
    ],
)
def test_seeds_that_ask_for_unequal_work_are_uneven(
    lengths: tuple[int, int], returns: tuple[float, float], expected: float
) -> None:
    shown = [replace(EXPERT, actions=(1,) * n, total=r) for n, r in zip(lengths, returns, strict=True)]
    assert evenness(evidence(*shown)) == pytest.approx(expected)


def test_levels_that_ask_for_more_are_in_order() -> None:
    def shown(level: int, *lengths: int) -> list[Episode]:
        return [replace(EXPERT, level=level, actions=(1,) * n) for n in lengths]

    assert list(order(evidence(*shown(1, 3, 4)))) == []
    assert list(order(evidence(*shown(1, 3, 4), *shown(2, 5, 6), levels=2))) == [1.0]
    assert list(order(evidence(*shown(1, 3, 5), *shown(2, 3, 5), levels=2))) == [0.0]
    assert list(order(evidence(*shown(1, 3, 5), *shown(2, 4, 6), levels=2))) == [0.5]
    asks = [replace(EXPERT, level=k, first=("x" * 10 * k, {})) for k in (1, 2)]
    assert list(order(evidence(*asks, levels=2))) == [1.0]  # by what is shown


@given(*[st.lists(st.integers(0, 5), min_size=1, max_size=6)] * 2)
def test_cliffs_delta_is_antisymmetric(one: list[int], other: list[int]) -> None:
    assert cliffs_delta(one, other) == pytest.approx(-cliffs_delta(other, one))
    assert -1 <= cliffs_delta(one, other) <= 1


@pytest.mark.parametrize(("won", "expected"), [(0, 1.0), (1, 0.6), (5, 0.0)])
def test_a_short_cut_near_its_limit_leaves_little_margin(won: int, expected: float) -> None:
    assert margin(evidence(EXPERT, *random_play(won, 10 - won)), Settings()) == pytest.approx(expected)


@given(
    st.lists(
        st.builds(
            lambda policy, level, steps, total, success: replace(
                EXPERT, policy=policy, level=level, actions=(1,) * steps, total=total, success=success
            ),
            st.sampled_from(["expert", "uniform", "held 1", "hint's text"]),
            st.sampled_from([1, 2]),
            st.integers(0, 9),
            st.floats(-1, 1),
            st.booleans(),
        ),
        max_size=12,
    )
)
def test_stability_is_a_share(episodes: list[Episode]) -> None:
    assert 0 <= stability(evidence(*episodes, levels=2), Settings()) <= 1


def test_the_sum_is_weighted() -> None:
    seen = evidence(EXPERT, *random_play(0, 20))
    worth = scores.scores(seen, 0.5, Settings())
    assert worth.total == pytest.approx(0.5 * 0.85 + 0.3 * 0.5 + 0.2 * 1.0)
    assert scores.scores(seen, 0.5, Settings(weights=Weights(0, 2, 0))).total == 0.5
    assert set(worth.as_dict()) == {"difficulty", "diversity", "stability", "total"}
    for wrong in ((-1, 1, 1), (0, 0, 0), (float("nan"), 1, 1), (float("inf"), 1, 1)):
        with pytest.raises(UsageError, match="weights"):
            Weights(*wrong)


@pytest.mark.parametrize(
    ("score", "won", "played", "frontier", "says"),
    [
        (0.7, 0, 12, Frontier(), None),
        (0.7, 6, 12, Frontier(floor=0.2), None),
        (0.59, 6, 12, Frontier(), "0.59 is below 0.60"),
        (0.7, 3, 7, Frontier(), "only 7 episodes"),
        (0.7, 8, 8, Frontier(), "too easy: a model won 8 of 8"),
        (0.7, 7, 8, Frontier(), None),
        (0.7, 0, 16, Frontier(floor=0.2), "too hard as yet: a model won 0 of 16"),
        (0.7, 0, 8, Frontier(floor=0.2), None),  # too few to say so
    ],
)
def test_entry_into_the_active_pool(
    score: float, won: int, played: int, frontier: Frontier, says: str | None
) -> None:
    decision = scores.entry(score, Probe("a model", won, played), frontier)
    assert decision.enters is (says is None)
    assert (says or "") in decision.text()
    assert len(decision.reasons) == (says is not None)


def test_all_reasons_are_given() -> None:
    assert len(scores.entry(0.1, Probe("random play", 0, 0), Frontier()).reasons) == 2


def test_a_policy_plays_a_probe() -> None:
    assert scores.probe("odd seeds", lambda seed: seed % 2 == 1, 9, 1) == Probe("odd seeds", 5, 9)
    seen = evidence(EXPERT, *random_play(1, 3), *random_play(4, 0, level=2), levels=2)
    assert scores.random_probe(seen) == Probe("random play", 1, 4)
