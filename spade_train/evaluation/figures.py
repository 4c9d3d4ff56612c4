"""From plays to figures with intervals. Pure; the same plays give the same figures.

*pass@1* is the share of items whose first play succeeds; *avg@k* the mean over all plays, a better known estimate
of the same; *pass@k* and *pass^k* the chance that one of k plays succeeds, or every one (Chen et al. 2021, arXiv
2107.03374; Yao et al. 2024, arXiv 2406.12045). Intervals are of 95 %: Wilson's where single plays are counted, a
bootstrap over items (Efron 1979) where each item has several. Items are what is drawn: plays of one are alike.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import comb
from statistics import fmean
from typing import Any

from spade_train.evaluation.suite import Item, Try
from spade_train.rewards.uncertainty import Estimate, Tally, wilson

RESAMPLES = 2000
"""Draws of the bootstrap: the ends of an interval then move by about 0.03 of its width from seed to seed."""

Tries = Mapping[Item, Sequence[Try]]
"""Item -> its plays, in their order."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What a suite came to.

    Attributes:
        items: that have a play that counts.
        plays: that count.
        left_out: plays that do not: faults of environments, prompts that are too long.
        k: plays of each item, the fewest of any.
        pass_1, avg_k: see above; None where nothing counts.
        pass_k, every_k: chance that one, or each, of k plays succeeds.
        agreement: chance that two plays of one item come to the same; None with one play an item.
        steps: turns of a successful play, on average; None where there is none.
        tokens: sampled by one play, on average.
    """

    items: int
    plays: int
    left_out: int
    k: int
    pass_1: Estimate | None = None
    avg_k: Estimate | None = None
    pass_k: float | None = None
    every_k: float | None = None
    agreement: float | None = None
    steps: float | None = None
    tokens: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return asdict(self)


def figures(tries: Tries) -> Figures:
    """Return the figures of a suite's plays."""
    known = counted(tries)
    plays = [one for of_item in known.values() for one in of_item]
    left_out = sum(len(of_item) for of_item in tries.values()) - len(plays)
    if not plays:
        return Figures(0, 0, left_out, 0)
    k = min(len(of_item) for of_item in known.values())
    won = [(sum(one.success for one in of_item), len(of_item)) for of_item in known.values()]
    first = sum(of_item[0].success for of_item in known.values())
    steps = [one.turns for one in plays if one.success]
    return Figures(
        len(known),
        len(plays),
        left_out,
        k,
        Estimate(first / len(known), *wilson(first, len(known))),
        mean_of_items([wins / of for wins, of in won]),
        fmean(1 - comb(of - wins, k) / comb(of, k) for wins, of in won),
        fmean(comb(wins, k) / comb(of, k) for wins, of in won),
        fmean(_agree(wins, of) for wins, of in won) if k > 1 else None,
        fmean(steps) if steps else None,
        fmean(one.tokens for one in plays),
    )


Rates = Mapping[str, Tally]
"""Name of an item -> its successes."""


def rates(tries: Tries) -> dict[str, Tally]:
    """Return the successes of every item that has a play that counts."""
    return {
        item.name: Tally(sum(one.success for one in plays), len(plays))
        for item, plays in counted(tries).items()
    }


def paired(mine: Rates, base: Rates) -> Estimate | None:
    """Return by how much avg@k lies above the base's, over the items that both have; None where there is none."""
    both = [name for name in mine if name in base]
    return mean_of_items([mine[name].rate - base[name].rate for name in both], low=-1.0) if both else None


def counted(tries: Tries) -> dict[Item, list[Try]]:
    """Return the plays that count, of items that have some."""
    found = {item: [one for one in of_item if one.counts] for item, of_item in tries.items()}
    return {item: of_item for item, of_item in found.items() if of_item}


def mean_of_items(values: Sequence[float], low: float = 0.0, seed: int = 0) -> Estimate:
    """Return the mean of at least one item's values in [low, 1], by a percentile bootstrap over items.

    Where all are alike, resampling sees no spread at all; the interval is then as wide as a share of which none was
    seen in so many items can be (Wilson).
    """
    count, mean = len(values), fmean(values)
    if len(set(values)) == 1:
        room = wilson(0, count)[1]
        return Estimate(mean, max(low, mean - room), min(1.0, mean + room))
    rng = random.Random(seed)
    means = sorted(fmean(rng.choices(values, k=count)) for _ in range(RESAMPLES))
    at = round(0.025 * RESAMPLES)
    return Estimate(mean, min(mean, means[at]), max(mean, means[-1 - at]))


def _agree(wins: int, plays: int) -> float:
    return (comb(wins, 2) + comb(plays - wins, 2)) / comb(plays, 2)
