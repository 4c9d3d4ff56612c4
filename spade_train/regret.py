"""What a design is worth, and what an episode earns: pure functions, each with its source.

*Regret* (SPADE, arXiv 2608.19197): the agent's mean return with a hint minus its mean return without. Here
both are played from the same seeds, so luck of the draw cancels, and the mean comes with its standard
error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, variance

REFUSED = -0.5
"""What a design earns that was refused, or that broke while it was played (SPADE's released code: a time-
out)."""


@dataclass(frozen=True)
class Regret:
    """Hinted minus unhinted mean return; ``error`` is its standard error, None where one play says
    nothing."""

    mean: float
    error: float | None


def paired_regret(
    unhinted: Mapping[int, Sequence[float]], hinted: Mapping[int, Sequence[float]]
) -> Regret | None:
    """Return the regret over the seeds that were played both ways; None where there is no such seed.

    Args:
        unhinted: seed -> returns of the plays without the hint.
        hinted: seed -> returns of the plays with it.

    With several seeds the error is that of the mean of the seeds' differences: it covers new seeds. With
    one seed it covers new plays of that seed alone.
    """
    seeds = [seed for seed, returns in unhinted.items() if returns and hinted.get(seed)]
    if not seeds:
        return None
    differences = [fmean(hinted[seed]) - fmean(unhinted[seed]) for seed in seeds]
    if len(seeds) > 1:
        return Regret(fmean(differences), math.sqrt(variance(differences) / len(seeds)))
    plays = unhinted[seeds[0]], hinted[seeds[0]]
    if min(map(len, plays)) < 2:
        return Regret(differences[0], None)
    return Regret(differences[0], math.sqrt(sum(variance(returns) / len(returns) for returns in plays)))


def plateau(success: float, low: float = 0.4, high: float = 0.6, fall: float = 0.25) -> float:
    """Return 1 for a success rate within [low, high], falling to 0 over ``fall`` on either side."""
    outside = max(low - success, success - high, 0.0)
    return max(0.0, 1.0 - outside / fall)


def blend(success: float, regret: float) -> float:
    """0.6 x plateau(success) + 0.4 x clip(regret / 0.15, 0, 1): the recipe of SPADE's released code."""
    return 0.6 * plateau(success) + 0.4 * min(1.0, max(0.0, regret / 0.15))


def floored_regret(success: float, regret: float) -> float:  # noqa: ARG001 - every designer reward is asked alike
    """max(0, regret): the paper's designer reward."""
    return max(0.0, regret)


DESIGNER_REWARDS: dict[str, Callable[[float, float], float]] = {"blend": blend, "regret": floored_regret}
"""Name -> (unhinted success rate, mean regret) -> reward."""


def agent_reward(return_: float, success: bool, well_formed: float, format_reward: float) -> float:
    """Return plus a format term that can never lift a failure over a success.

    A success has the whole term, whatever its form: a successful episode returns more than every failed one
    of its instance (the contract), so it earns more, too.
    """
    return return_ + format_reward * (1.0 if success else well_formed)


def wilson(successes: int, count: int, z: float = 1.96) -> tuple[float, float]:
    """Return the Wilson score interval of a rate (Wilson 1927); (0, 1) where nothing was counted."""
    if not count:
        return 0.0, 1.0
    rate = successes / count
    scale = 1 + z * z / count
    middle = (rate + z * z / (2 * count)) / scale
    half = z / scale * math.sqrt(rate * (1 - rate) / count + z * z / (4 * count * count))
    return max(0.0, middle - half), min(1.0, middle + half)


@dataclass(frozen=True)
class Effort:
    """What may be spent on narrower intervals: the wished half-width, and seeds."""

    width: float
    seeds: int

    def after(self, spent: int) -> Effort:
        """Return what is left."""
        return Effort(self.width, self.seeds - spent)


def more_seeds(regrets: Sequence[Regret | None], effort: Effort) -> list[int]:
    """Return for each environment how many further seeds it is played from."""
    counts = [0] * len(regrets)
    wide = [n for n, one in enumerate(regrets) if one and (one.error is None or 2 * one.error > effort.width)]
    for n in wide[: effort.seeds]:
        counts[n] = 1
    return counts
