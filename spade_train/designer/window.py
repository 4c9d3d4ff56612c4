"""How long a prompt may be, and what fits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from spade_envs.errors import UsageError


def rough_count(text: str) -> int:
    """Return about how many tokens a text has, where no tokenizer is at hand."""
    return len(text) // 3


@dataclass(frozen=True, slots=True)
class Window:
    """How long a prompt may be.

    Attributes:
        tokens: the most tokens of a prompt.
        count: counts the tokens of a text.
    """

    tokens: int = 6_000
    count: Callable[[str], int] = rough_count

    def left(self, *texts: str) -> int:
        """Return what these texts leave of the window.

        Raises:
            UsageError: they do not fit.
        """
        left = self.tokens - sum(map(self.count, texts))
        if left < 0:
            raise UsageError(
                f"A prompt of {self.tokens} tokens cannot hold what it must say. Allow {-left} tokens more."
            )
        return left

    def cut(self, text: str, limit: int) -> str:
        """Return the longest beginning of whole words that has at most ``limit`` tokens."""
        words = text.split(" ")
        while words and (tokens := self.count(" ".join(words))) > limit:
            words = words[: min(len(words) - 1, len(words) * limit // tokens)]
        return " ".join(words)
