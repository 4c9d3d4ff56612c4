"""Which environments are played beside the new ones. State goes in and comes out; nothing is held here.

The start: every environment of the pool is as likely as every other.
"""

from __future__ import annotations

import random
from collections.abc import Sequence


def choose(pool: Sequence[str], count: int, rng: random.Random) -> list[str]:
    """Return ``count`` ids, drawn uniformly; none comes twice before every other has come once."""
    drawn: list[str] = []
    while len(drawn) < count:
        drawn += rng.sample(pool, min(len(pool), count - len(drawn)))
    return drawn
