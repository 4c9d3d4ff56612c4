"""Whether an action was read off the hint."""

from __future__ import annotations

import re
from collections.abc import Iterable

_TOKEN = re.compile(r"\w+")


def echoes(actions: Iterable[str], hint: str, known: Iterable[str]) -> bool:
    """Return whether an action holds a token that stands in the hint and in nothing else that was shown.

    Args:
        actions: an episode's actions, as the environment was given them.
        hint: the hint's text.
        known: all other texts that were shown: rules, worked examples without their hints, observations.

    Tokens are runs of letters, digits and underscores; capitals count for nothing.
    """
    secret = _tokens([hint]) - _tokens(known)
    return not secret.isdisjoint(_tokens(actions))


def _tokens(texts: Iterable[str]) -> set[str]:
    return {token for text in texts for token in _TOKEN.findall(text.casefold())}
