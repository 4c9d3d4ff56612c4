"""No failure rides above a success of its block; a fault has no reward."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spade_train.rewards.agent import AgentTerms, Outcome, block_rewards, novelty, weight_of

SHARE = st.floats(0, 1)
OUTCOMES = st.builds(
    Outcome,
    return_=st.floats(-1, 1),
    success=st.booleans(),
    well_formed=SHARE,
    turns=st.integers(1, 30),
    turn_limit=st.none() | st.integers(1, 20),
    novelty=SHARE,
    counts=st.booleans(),
)
TERMS = st.builds(
    AgentTerms, form=st.floats(0, 0.9), efficiency=st.floats(0, 0.9), exploration=st.floats(0, 0.9)
)


@given(st.lists(OUTCOMES, max_size=8), TERMS)
def test_no_failure_rides_above_a_success(block: list[Outcome], terms: AgentTerms) -> None:
    """Not even where the environment breaks the contract and lets a failure return more."""
    earned = block_rewards(block, terms)
    known = [(one, reward) for one, reward in zip(block, earned, strict=True) if reward is not None]
    wins = [reward for one, reward in known if one.success]
    assert all(reward <= min(wins, default=reward) for one, reward in known if not one.success)
    assert [reward is None for reward in earned] == [not one.counts for one in block]


@given(st.floats(-1, 0.9), OUTCOMES, OUTCOMES, TERMS)
def test_under_the_contract_a_success_earns_strictly_more(
    least: float, loser: Outcome, winner: Outcome, terms: AgentTerms
) -> None:
    won = Outcome(least + 0.1, True, winner.well_formed, winner.turns, winner.turn_limit, winner.novelty)
    lost = Outcome(least, False, loser.well_formed, loser.turns, loser.turn_limit, loser.novelty)
    better, worse = block_rewards([won, lost], terms)
    assert better is not None
    assert worse is not None
    assert better > worse


def test_terms_by_hand() -> None:
    terms = AgentTerms(form=0.1, efficiency=0.2, exploration=0.05)
    block = [
        Outcome(1.0, True, well_formed=0.5, turns=5, turn_limit=10),
        Outcome(0.0, False, well_formed=0.5, turns=1, turn_limit=10, novelty=1.0),
        Outcome(0.0, True, counts=False),
    ]
    assert block_rewards(block, terms) == [pytest.approx(1.25), pytest.approx(0.1), None]


def test_novelty_is_the_share_that_nobody_else_did() -> None:
    assert novelty([["a", "b"], ["a"], []]) == [0.5, 0.0, 0.0]


def test_weights_are_found_by_id_then_by_name() -> None:
    weights = {"spade/X-v1": 2.0, "spade/X": 3.0}
    assert [weight_of(f"spade/{name}", weights) for name in ("X-v1", "X-v2", "Y-v0")] == [2.0, 3.0, 1.0]
