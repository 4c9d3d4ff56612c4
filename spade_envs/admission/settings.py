"""How much is played before a verdict, and the limits of the contract."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from spade_envs.errors import UsageError


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each score counts for the whole; none is negative, and one at least is positive."""

    difficulty: float = 0.5
    diversity: float = 0.3
    stability: float = 0.2

    def __post_init__(self) -> None:
        weights = (self.difficulty, self.diversity, self.stability)
        if min(weights) < 0 or not 0 < sum(weights) < math.inf:
            raise UsageError(f"weights must be finite, none negative and not all zero, found {weights}")

    def mean(self, parts: Sequence[float]) -> float:
        """Return the weighted mean of difficulty, diversity and stability."""
        weights = (self.difficulty, self.diversity, self.stability)
        return sum(w * part for w, part in zip(weights, parts, strict=True)) / sum(weights)


@dataclass(frozen=True, slots=True)
class Frontier:
    """What lets an admitted environment into the active pool.

    Attributes:
        least_score: the weighted sum of its scores must reach this.
        least_plays: episodes that a probe must have.
        ceiling: too easy when the lower end of the probe's 95 % interval lies above this: 8 of 8, 14 of 16.
        floor: too hard when the upper end lies below this. Random play is meant to lose, so 0 by default; for a
            model's play 0.2 keeps out 0 of 16.
    """

    least_score: float = 0.6
    least_plays: int = 8
    ceiling: float = 0.6
    floor: float = 0.0


@dataclass(frozen=True, slots=True)
class Settings:
    """What admission plays and where it draws the lines.

    Attributes:
        reset_seeds: seeds that are reset once each, over all levels together.
        expert_seeds: seeds per level on which the expert must succeed.
        more_expert_seeds: further seeds per level that the expert plays, without a look at each state ...
        more_expert_steps: ... up to so many steps.
        replayed_seeds: seeds per level whose episodes are repeated in a second interpreter.
        short_cut_limit: share of episodes that a short cut may win.
        looks: numbers of episodes after which a rate is judged; the last one is final.
        broken_from: the least number of episodes that can show a limit to be broken.
        order_episodes: episodes of random play by which each level is compared with the others.
        order_p: the order of the levels is broken below this probability.
        hint_words: words that a hint may have.
        leak_limit: share of the expert's episodes in which a hint may name an action by chance.
        search_episodes: sequences of actions that a search without the expert tries at most, for each level.
        shown_limit: share of episodes that reading the answer off the observation may win.
        near_tree: share of two syntax trees from which one design is a near duplicate of the other.
        near_contained: the same, as a share of the smaller tree.
        near_text: share of two designs' rules from which they are near duplicates.
        near_behaviour: share of the fixed streams of actions from which they are near duplicates.
        copied_words: words in a row that a design may not share with the document it was made from.
        review: whether a model must review a design; without its consent the design is refused.
        budget_s: seconds of wall time for one design; a slower one is refused as too slow to train on.
        weights: how much each score counts.
        frontier: what lets an admitted environment into the active pool.
    """

    reset_seeds: int = 240
    expert_seeds: int = 20
    more_expert_seeds: int = 60
    more_expert_steps: int = 400
    replayed_seeds: int = 4
    short_cut_limit: float = 0.25
    looks: tuple[int, ...] = (12, 25, 50, 100, 200)
    broken_from: int = 50
    order_episodes: int = 50
    order_p: float = 0.01
    hint_words: int = 100
    leak_limit: float = 0.1
    search_episodes: int = 50
    shown_limit: float = 0.75
    near_tree: float = 0.5
    near_contained: float = 0.7
    near_text: float = 0.5
    near_behaviour: float = 0.5
    copied_words: int = 40
    review: bool = False
    budget_s: float = 120.0
    weights: Weights = Weights()
    frontier: Frontier = Frontier()
