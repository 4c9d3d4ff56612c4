"""Ideas: what a design is about at its core, so that two designs of one idea are told as one.

An idea is the set of word stems of the header's summary, without its common words, and the source's syntax tree
without its names. Two ideas are the same where they share enough of their words, or the whole tree.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from spade_envs import Rejection, parse_header, tree_key

SAME = 0.6
"""Share of the words of two ideas from which on they are the same (Jaccard's index)."""

_WORD = re.compile(r"[^\W\d_]{3,}")
_COMMON = """
    the and with from into that this which each every one two all any its their your you are not but for has have will
    can must before after until while when where then than only same other more most least given shown some
    agent player game environment task
"""
_LEFT_OUT = frozenset(_WORD.findall(_COMMON))


@dataclass(frozen=True, slots=True)
class Idea:
    """What a design is about.

    Attributes:
        words: stems of its summary; none where it has no words of letters.
        tree: key of its syntax tree (:func:`spade_envs.tree_key`); empty where it is not known.
    """

    words: frozenset[str] = frozenset()
    tree: str = ""

    @classmethod
    def of(cls, source: str) -> Idea | None:
        """Return the idea of a source; None where it has no readable header."""
        header = parse_header(source)
        return None if isinstance(header, Rejection) else cls(stems(header.summary), tree_key(source) or "")

    @property
    def key(self) -> str:
        """Return a short name that equal words, or without words equal trees, share; empty where there is neither."""
        text = " ".join(sorted(self.words)) or self.tree
        return hashlib.blake2b(text.encode(), digest_size=6).hexdigest() if text else ""


@lru_cache(maxsize=4096)
def stems(text: str) -> frozenset[str]:
    """Return the stems of a text's words, without common ones: `sorting` and `sorted` are one."""
    return frozenset(_stem(word) for word in _WORD.findall(text.casefold()) if word not in _LEFT_OUT)


def alike(one: Idea, other: Idea) -> float:
    """Return how like two ideas are, in [0, 1]: 1 where the tree is the same, else the share of their words."""
    if one.tree and one.tree == other.tree:
        return 1.0
    either = len(one.words | other.words)
    return len(one.words & other.words) / either if either else 0.0


def keys(ideas: Iterable[Idea | None], known: Mapping[str, Sequence[Idea]]) -> list[str | None]:
    """Return the key of each idea: that of the likest known one, or of an earlier one here; else a key of its own.

    Args:
        ideas: in order; None where a design's could not be read, which gets none.
        known: key -> ideas that have it, one at least, in order: of equally like ones the first counts.
    """
    told = {key: list(of_key) for key, of_key in known.items()}
    found: list[str | None] = []
    for idea in ideas:
        key = _likest(idea, told) if idea else ""
        if idea and key:
            told.setdefault(key, []).append(idea)
        found.append(key or None)
    return found


def repetitions(sources: Sequence[str | None]) -> list[float]:
    """Return for each design the share of the others that have its idea, in [0, 1]; 0 where none could be read.

    R-Zero (arXiv 2508.05004) clusters a batch's questions likewise, by the likeness of their texts.
    """
    ideas = [Idea.of(source) if source is not None else None for source in sources]
    others = max(1, len(ideas) - 1)
    return [
        sum(_same(idea, other) for at, other in enumerate(ideas) if at != n) / others
        for n, idea in enumerate(ideas)
    ]


def _same(one: Idea | None, other: Idea | None) -> bool:
    return one is not None and other is not None and alike(one, other) >= SAME


def _likest(idea: Idea, told: Mapping[str, Sequence[Idea]]) -> str:
    likeness = {key: max(alike(idea, one) for one in of_key) for key, of_key in told.items()}
    key = max(likeness, key=likeness.__getitem__, default="")
    return key if likeness.get(key, 0.0) >= SAME else idea.key


def _stem(word: str) -> str:
    """Strip the commonest English endings; what is left need be no word, only the same for its forms."""
    for ending, least in (("ing", 3), ("ed", 3), ("es", 4), ("s", 3), ("e", 3)):
        if word.endswith(ending) and len(word) - len(ending) >= least and not word.endswith("ss"):
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word.endswith("e"):
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word
