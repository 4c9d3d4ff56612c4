"""Rates with their uncertainty: how the contract judges a share of episodes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

Verdict = Literal["within", "broken", "undecided"]
Z = 1.959964  # two-sided 95 %


def wilson(successes: int, episodes: int) -> tuple[float, float]:
    """Return the 95 % Wilson interval of a success rate; (0, 1) where nothing was played."""
    if episodes == 0:
        return 0.0, 1.0
    rate, square = successes / episodes, Z * Z
    middle = rate + square / (2 * episodes)
    half = Z * math.sqrt(rate * (1 - rate) / episodes + square / (4 * episodes * episodes))
    scale = 1 + square / episodes
    return min(rate, max(0.0, (middle - half) / scale)), max(rate, min(1.0, (middle + half) / scale))


def against(successes: int, episodes: int, limit: float) -> Verdict:
    """Say on which side of a limit the whole interval lies."""
    low, high = wilson(successes, episodes)
    if low > limit:
        return "broken"
    return "within" if high < limit else "undecided"


def p_more(successes: int, episodes: int, base_successes: int, base_episodes: int) -> float:
    """Return Fisher's one-sided p: how likely so many more successes than the base's are by chance."""
    total, won = episodes + base_episodes, successes + base_successes
    ways = math.comb(total, episodes)
    tail = range(successes, min(won, episodes) + 1)
    return sum(math.comb(won, k) * math.comb(total - won, episodes - k) for k in tail) / ways


def p_shorter(values: Sequence[float], base: Sequence[float]) -> float:
    """Return the rank-sum test's one-sided p: how likely `values` lie so far below `base` by chance."""
    n, m = len(values), len(base)
    pooled = sorted([*values, *base])
    ranks = {v: (2 * pooled.index(v) + pooled.count(v) + 1) / 2 for v in set(pooled)}
    ties = sum(pooled.count(v) ** 3 - pooled.count(v) for v in ranks)
    size = n + m
    variance = n * m / 12 * (size + 1 - ties / (size * (size - 1)))
    if variance <= 0:
        return 1.0
    z = (sum(ranks[v] for v in values) - n * (size + 1) / 2) / math.sqrt(variance)
    return 0.5 * math.erfc(-z / math.sqrt(2))


def p_differ(values: Sequence[float], base: Sequence[float]) -> float:
    """Return the rank-sum test's two-sided p."""
    return min(1.0, 2 * min(p_shorter(values, base), p_shorter(base, values)))
