"""What a design earns: terms with their sources, and weighted sums of them.

A *term* reads the measures of an admitted, played design and returns a number in [-1, 1]. What a design earns
is the weighted sum of its terms less a bounded penalty for faults; a refused design earns no more than
any admitted one. Packages offer further terms under the entry point group ``spade_train.rewards``.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from spade_envs.errors import UsageError
from spade_train.rewards import curves
from spade_train.rewards.regret import Regret

REFUSED = -0.5
"""What a refused design earns: the penalty of SPADE's released code for a time-out."""

FAULTS = 0.5
"""What it costs when every play ends in a fault (a time-out, a worker's death); fewer cost their share."""


@dataclass(frozen=True)
class Measures:
    """What is known of one design when it is paid.

    Attributes:
        admitted, compiled: how far it came.
        success, hinted_success: rates of the plays that count; None where none does.
        regret: None where no seed was played both ways.
        spread: standard deviation of the unhinted returns.
        plays, faults: how many plays were begun, with and without the hint; how many ended in a fault.
        likeness: to the nearest environment that there is, in [0, 1]; None where nothing was compared.
        repetition: share of the other designs of its block that have the same idea, in [0, 1].
        variety: how unlike the other designs of its block its syntax tree is, in [0, 1].
        slow_success: slow moving average of success before this round; None in the first.
    """

    admitted: bool = True
    compiled: bool = True
    success: float | None = None
    hinted_success: float | None = None
    regret: Regret | None = None
    spread: float = 0.0
    plays: int = 0
    faults: int = 0
    likeness: float | None = None
    repetition: float = 0.0
    variety: float = 0.0
    slow_success: float | None = None


DesignerReward = Callable[[Measures], float]


def regret(measures: Measures) -> float:
    """max(0, regret): the paper's reward (SPADE, arXiv 2608.19197)."""
    return max(0.0, measures.regret.mean) if measures.regret else 0.0


def sure_regret(measures: Measures) -> float:
    """max(0, lower end of regret's 95 % interval): pays for what is known, and so for evidence."""
    return max(0.0, measures.regret.low) if measures.regret else 0.0


def blend(measures: Measures) -> float:
    """0.6 plateau(p) + 0.4 clip(regret / 0.15, 0, 1): the recipe of SPADE's released code."""
    return 0.6 * curves.plateau(measures.success or 0.0) + 0.4 * min(1.0, regret(measures) / 0.15)


def potential(measures: Measures) -> float:
    """|p - slow average of p|: see :func:`spade_train.rewards.curves.potential`; 0 in the first round."""
    slow = measures.slow_success
    return 0.0 if slow is None else curves.potential(measures.success or 0.0, slow)


def variance(measures: Measures) -> float:
    """exp(-(s^2 - 0.25)^2 / 0.02), s the returns' spread: an optional addend of SPADE's released code.

    It peaks where half of the returns are 0 and half are 1.
    """
    return math.exp(-((measures.spread**2 - 0.25) ** 2) / 0.02)


def validity(measures: Measures) -> float:
    """1 for an admitted design, 1/2 for one that only compiled, else 0; the one term that the refused earn.

    With it designs that come nearer to admission earn more, where a whole block was refused too.
    """
    return 1.0 if measures.admitted else 0.5 if measures.compiled else 0.0


def diversity(measures: Measures) -> float:
    """1 - likeness to the nearest environment; 1 where nothing was compared."""
    return 1 - (measures.likeness or 0.0)


def repetition(measures: Measures) -> float:
    """Minus the share of the block's other designs with the same idea.

    R-Zero (arXiv 2508.05004) subtracts the share of the batch that lies in a question's cluster.
    """
    return -measures.repetition


def variety(measures: Measures) -> float:
    """1 - mean likeness of the syntax tree to those of the block's other designs.

    Summed over a block it is Rao's quadratic entropy (Rao 1982) but for a factor: what is various as a whole is paid.
    """
    return measures.variety


def _of_success(curve: Callable[[float], float]) -> DesignerReward:
    def term(measures: Measures) -> float:
        return 0.0 if measures.success is None else curve(measures.success)

    return term


REWARDS: dict[str, DesignerReward] = {
    "regret": regret,
    "sure_regret": sure_regret,
    "blend": blend,
    "potential": potential,
    "solve_rate": _of_success(curves.plateau),
    "learnability": _of_success(curves.learnability),
    "uncertainty": _of_success(curves.uncertainty),
    "bell": _of_success(curves.bell),
    "hardness": _of_success(curves.hardness),
    "variance": variance,
    "validity": validity,
    "diversity": diversity,
    "repetition": repetition,
    "variety": variety,
}
"""Every term of this package by the name that a configuration gives."""


def weighted(weights: Mapping[str, float], terms: Mapping[str, DesignerReward] = REWARDS) -> DesignerReward:
    """Return what a design earns under these weights, as a function of its measures.

    sum of weight x term - 0.5 x share of faulty plays, but never less than what the best refused design earns:
    -0.5, and half of validity's weight. An admitted design of which no play counts earns that least.

    Args:
        weights: name -> weight, as in ``{"regret": 0.7, "diversity": 0.3}``.
        terms: what the names mean; :func:`spade_train.rewards.extensions.all_terms` adds other packages'.

    Raises:
        UsageError: there is no such term, a weight is negative or not finite, or none is above nought.
    """
    for name, weight in weights.items():
        _check(name, weight, terms)
    if not any(weights.values()):
        raise UsageError('No designer reward has a weight; give one, for example {"regret": 1.0}.')
    for_validity = weights.get("validity", 0.0)
    least = REFUSED + for_validity / 2

    def earned(measures: Measures) -> float:
        if not measures.admitted:
            return REFUSED + for_validity * validity(measures)
        if measures.success is None:
            return least
        worth = math.fsum(weight * terms[name](measures) for name, weight in weights.items() if weight)
        return max(least, worth - fault_penalty(measures))

    return earned


def fault_penalty(measures: Measures) -> float:
    """Return 0.5 x the share of plays that a fault ended: at most 0.5, whatever went wrong."""
    return FAULTS * measures.faults / measures.plays if measures.plays else 0.0


def _check(name: str, weight: float, terms: Mapping[str, DesignerReward]) -> None:
    if name not in terms:
        near = difflib.get_close_matches(name, terms, 1)
        mend = f"Did you mean {near[0]!r}?" if near else f"There are {', '.join(sorted(terms))}."
        raise UsageError(f"There is no designer reward {name!r}. {mend}")
    if not (math.isfinite(weight) and weight >= 0):
        raise UsageError(f"The designer reward {name!r} has the weight {weight}; give a number from 0 on.")
