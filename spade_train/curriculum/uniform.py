"""The baseline: every environment is as likely as every other."""

from __future__ import annotations

import random
from collections.abc import Sequence


def uniform(pool: Sequence[str], count: int, rng: random.Random) -> list[str]:
    """Return ``count`` ids, drawn uniformly; none comes twice before every other has come once."""
    drawn: list[str] = []
    while len(drawn) < count:
        drawn += rng.sample(pool, min(len(pool), count - len(drawn)))
    return drawn
