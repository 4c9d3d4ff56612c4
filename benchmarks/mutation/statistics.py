"""The few tests by which oracles judge rates and lengths."""

from __future__ import annotations

import math
from collections.abc import Sequence


def p_at_least(won: int, played: int, rate: float) -> float:
    """Return how likely so many successes are where the true rate is ``rate``."""
    return sum(math.comb(played, k) * rate**k * (1 - rate) ** (played - k) for k in range(won, played + 1))


def p_higher(won: int, played: int, base_won: int, base_played: int) -> float:
    """Return how likely the first rate looks so much higher by chance (two proportions, pooled)."""
    pooled = (won + base_won) / (played + base_played)
    deviation = math.sqrt(pooled * (1 - pooled) * (1 / played + 1 / base_played))
    return _tail((won / played - base_won / base_played) / deviation) if deviation else 1.0


def p_lower(values: Sequence[float], base: Sequence[float]) -> float:
    """Return how likely the mean of values lies so far below the base's by chance (Welch, normal)."""
    n, m = len(values), len(base)
    if not n or not m:
        return 1.0
    a, b = sum(values) / n, sum(base) / m
    spread = sum((v - a) ** 2 for v in values) / n**2 + sum((v - b) ** 2 for v in base) / m**2
    if not spread:
        return 0.0 if a < b else 1.0
    return _tail((b - a) / math.sqrt(spread))


def _tail(z: float) -> float:
    return 0.5 * math.erfc(z / math.sqrt(2))
