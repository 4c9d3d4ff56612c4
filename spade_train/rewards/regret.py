"""Hint-based regret, how well it is known, and where further plays would teach most.

*Regret* (SPADE, arXiv 2608.19197): the agent's mean return with a hint minus its mean return without. Here
both are played from the same seeds, so luck of the draw cancels, and the mean comes with a 95 % interval.

Returns are few and mostly 0 or 1, so two or three seeds often agree by chance; the textbook interval then has
no width at all. Both intervals below therefore count neutral plays besides those that were seen.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, variance

from spade_train.rewards.uncertainty import Z, student

FARTHEST = 2.0
"""Returns lie in [-1, 1] (the contract), so no regret is farther from nought than this."""


@dataclass(frozen=True)
class Regret:
    """Hinted minus unhinted mean return.

    Attributes:
        mean: over the seeds that were played both ways; every seed counts alike.
        error: its standard error; None where one play says nothing of another.
        low, high: 95 % interval. With several seeds it covers new seeds; with one, new plays of that seed.
        seeds: how many were played both ways.
        plays: how many plays of theirs count, hinted and unhinted.
    """

    mean: float
    error: float | None
    low: float
    high: float
    seeds: int
    plays: int

    @property
    def half_width(self) -> float:
        """Half of the interval."""
        return (self.high - self.low) / 2

    @property
    def negative(self) -> bool:
        """Whether the hint surely misleads: the whole interval lies below nought."""
        return self.high < 0


def paired_regret(
    unhinted: Mapping[int, Sequence[float]], hinted: Mapping[int, Sequence[float]]
) -> Regret | None:
    """Return the regret over the seeds that were played both ways; None where there is no such seed.

    Args:
        unhinted: seed -> returns of the plays without the hint, in [-1, 1].
        hinted: seed -> returns of the plays with it.
    """
    pairs = [(unhinted[seed], hinted[seed]) for seed in unhinted if unhinted[seed] and hinted.get(seed)]
    if not pairs:
        return None
    differences = [fmean(with_hint) - fmean(without) for without, with_hint in pairs]
    error, middle, half = _of_plays(*pairs[0]) if len(pairs) == 1 else _of_seeds(differences)
    mean = fmean(differences)
    low, high = max(-FARTHEST, middle - half), min(FARTHEST, middle + half)
    plays = sum(len(side) for pair in pairs for side in pair)
    return Regret(mean, error, min(mean, low), max(mean, high), len(pairs), plays)


def _of_seeds(differences: Sequence[float]) -> tuple[float, float, float]:
    """Return (standard error, middle and half width of the interval) of the seeds' mean difference.

    Student's t (Student 1908) over the n differences and two neutral seeds that differ by -1, 0, 0 and 1 with
    half a weight each (Agresti & Min 2005, who count them with the normal quantile); n + 1 degrees of freedom.
    """
    count = len(differences)
    weight = count + 2
    middle = math.fsum(differences) / weight
    squares = math.fsum(one * one for one in differences) + 1
    spread = max(0.0, squares - weight * middle * middle) / (weight - 1)
    half = student(count + 1) * math.sqrt(spread / weight)
    return math.sqrt(variance(differences) / count), middle, half


def _of_plays(unhinted: Sequence[float], hinted: Sequence[float]) -> tuple[float | None, float, float]:
    """Return the same for the plays of one seed: Agresti & Caffo (2000), a failure and a success a side."""
    sides = [(*returns, 0.0, 1.0) for returns in (unhinted, hinted)]
    middle = fmean(sides[1]) - fmean(sides[0])
    spread = math.fsum(math.fsum((one - fmean(side)) ** 2 for one in side) / len(side) ** 2 for side in sides)
    if min(len(unhinted), len(hinted)) < 2:
        error = None
    else:
        error = math.sqrt(variance(unhinted) / len(unhinted) + variance(hinted) / len(hinted))
    return error, middle, Z * math.sqrt(spread)


def more_seeds(regrets: Mapping[str, Regret], half_width: float, *, plays: int, cost: int) -> dict[str, int]:
    """Return how many further seeds each environment gets, so that its regret becomes known well enough.

    The widest goes first, one seed at a time; an interval narrows with the root of its seeds. No environment
    gets more than it has, for its spread is itself only guessed: play, measure, and ask again.

    Args:
        regrets: environment -> what is known now.
        half_width: the wished half width of the interval, which must cover new seeds: one seed never does.
        plays: how many plays may be spent in all.
        cost: plays of one further seed, hinted and unhinted.

    Returns:
        Environment -> seeds, only where there are any. It costs at most ``plays``; a larger budget or a
        narrower wish never takes a seed away from all of them together.
    """
    extra: dict[str, int] = {}
    for _ in range(plays // cost):
        width = {name: _expected(one, extra.get(name, 0)) for name, one in sorted(regrets.items())}
        wide = [
            name
            for name, one in width.items()
            if one > half_width and extra.get(name, 0) < regrets[name].seeds
        ]
        if not wide:
            break
        widest = max(wide, key=width.__getitem__)
        extra[widest] = extra.get(widest, 0) + 1
    return extra


def _expected(regret: Regret, extra: int) -> float:
    seeds = regret.seeds + extra
    return math.inf if seeds < 2 else regret.half_width * math.sqrt(regret.seeds / seeds)
