"""How long a text is, in any script."""

from __future__ import annotations

import re

WORD = re.compile(r"\S{1,20}")
"""A word. Longer ones, and scripts that put no blanks between words, count as several: every piece is bounded."""


def count_words(text: str) -> int:
    """Return how many words a text has."""
    return len(WORD.findall(text))
