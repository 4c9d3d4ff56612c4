"""From rewards to the advantages of GRPO, block by block."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, stdev

from spade_train.rounds import Row


def advantages(rows: Sequence[Row], group: int) -> list[float | None]:
    """Return (reward - mean of its block) / (its spread + 1e-4); None stays None."""
    found: list[float | None] = []
    for at in range(0, len(rows), group):
        block = [row.reward for row in rows[at : at + group]]
        known = [r for r in block if r is not None]
        middle = fmean(known) if known else 0.0
        spread = stdev(known) if len(known) > 1 else 0.0
        found += [None if r is None else (r - middle) / (spread + 1e-4) for r in block]
    return found
