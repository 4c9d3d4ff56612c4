"""Whether designs of one block have the same idea, whatever their names and numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from spade_envs import Rejection, parse_header

SAME = 0.6
"""Share of the words of two summaries from which on their idea is the same (Jaccard's index)."""

_WORD = re.compile(r"[a-z]{3,}")


def repetitions(sources: Sequence[str | None]) -> list[float]:
    """Return for each design the share of the others that have its idea, in [0, 1]; 0 where none could be read.

    R-Zero (arXiv 2508.05004) clusters a batch's questions likewise, by the likeness of their texts.
    """
    ideas = [_words(source) for source in sources]
    others = max(1, len(ideas) - 1)
    return [
        sum(_alike(idea, other) for at, other in enumerate(ideas) if at != n) / others
        for n, idea in enumerate(ideas)
    ]


def _words(source: str | None) -> frozenset[str]:
    header = parse_header(source) if source is not None else None
    if header is None or isinstance(header, Rejection):
        return frozenset()
    return frozenset(_WORD.findall(header.summary.casefold()))


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return bool(one) and len(one & other) >= SAME * len(one | other)
