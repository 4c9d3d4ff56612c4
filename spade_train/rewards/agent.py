"""What an agent's episodes earn: the return, and terms that no failure can ride above a success.

A successful episode returns more than every failed one of its instance (the contract). A success has the
whole of the terms for form and exploration, and alone has the one for efficiency: so it earns more, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    """What one unhinted episode came to.

    Attributes:
        return_: sum of the rewards, in [-1, 1].
        well_formed: share of its turns that could be read, in [0, 1].
        turns, turn_limit: how many turns it took and could take; the limit None where unknown.
        novelty: how unlike the block's other episodes it was, in [0, 1]: see :func:`novelty`.
        counts: False where a fault of the environment ended it, or it was never played.
    """

    return_: float
    success: bool
    well_formed: float = 1.0
    turns: int = 1
    turn_limit: int | None = None
    novelty: float = 0.0
    counts: bool = True


@dataclass(frozen=True)
class AgentTerms:
    """The most that each term adds to a return; 0 turns it off."""

    form: float = 0.1
    efficiency: float = 0.0
    exploration: float = 0.0


def block_rewards(outcomes: Sequence[Outcome], terms: AgentTerms) -> list[float | None]:
    """Return each episode's reward, for a block: plays of one environment from one seed.

    Returns:
        One reward an episode. None leaves its row out: a fault of the environment is never a zero. Where an
        environment breaks the contract and a failure returns more, it earns as much as the least success.
    """
    earned = [_reward(one, terms) if one.counts else None for one in outcomes]
    wins = [
        reward for one, reward in zip(outcomes, earned, strict=True) if one.success and reward is not None
    ]
    ceiling = min(wins, default=None)
    return [
        reward if reward is None or ceiling is None or one.success else min(reward, ceiling)
        for one, reward in zip(outcomes, earned, strict=True)
    ]


def _reward(one: Outcome, terms: AgentTerms) -> float:
    if one.success:
        return one.return_ + terms.form + terms.exploration + terms.efficiency * efficiency(one)
    return one.return_ + terms.form * one.well_formed + terms.exploration * one.novelty


def efficiency(one: Outcome) -> float:
    """Return the share of the turns that were left over, in [0, 1); 0 where the limit is unknown."""
    return max(0.0, 1 - one.turns / one.turn_limit) if one.turn_limit else 0.0


def novelty(actions: Sequence[Sequence[str]]) -> list[float]:
    """Return, for each episode of a block, the share of its actions that no other episode took.

    Args:
        actions: the texts of each episode's actions.
    """
    kinds = [set(taken) for taken in actions]
    others = [set().union(*kinds[:at], *kinds[at + 1 :]) for at in range(len(kinds))]
    return [len(own - other) / len(own) if own else 0.0 for own, other in zip(kinds, others, strict=True)]


def weight_of(env_id: str, weights: Mapping[str, float]) -> float:
    """Return an environment's weight: by its id, else by its id without the version, else 1.

    It weighs the block's advantages: within rewards, scaling by their deviation would take it out again.
    """
    return weights.get(env_id, weights.get(env_id.rpartition("-v")[0], 1.0))
