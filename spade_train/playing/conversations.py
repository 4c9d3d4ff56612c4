"""A batch of conversations with one model, and what it says in them, whoever computes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from spade_train.playing.constraint import Constraint


@dataclass
class Sampled:
    """One row's new tokens.

    Attributes:
        tokens: what was said, with the token that ended the turn.
        chosen: for each, 1 where the model chose and 0 where the grammar left no choice.
        logprobs: of each in what it was drawn from; NaN under a grammar; empty where the trainer works them out.
    """

    tokens: list[int] = field(default_factory=list)
    chosen: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)

    def extend(self, tokens: Sequence[int], chosen: int) -> None:
        """Append tokens of one kind."""
        self.tokens += tokens
        self.chosen += [chosen] * len(tokens)


class Conversations(Protocol):
    """Conversations side by side; rows keep their number in the prompts that they began with."""

    @property
    def running(self) -> int:
        """How many rows have not been dropped."""

    def speak(self, limit: int, constraint: Constraint | None = None) -> dict[int, Sampled]:
        """Let the rows speak until some have ended their turn or said ``limit`` tokens; return what those said.

        Each of them must be dropped or made to hear something before it can speak again.
        """

    def hear(self, number: int, tokens: Sequence[int]) -> None:
        """Let a row read what it did not choose; then it is its turn."""

    def drop(self, number: int) -> None:
        """End a conversation."""

    def sample(self, limit: int, constraint: Constraint | None = None) -> list[Sampled]:
        """Let every row speak once, and end all conversations."""
        said: dict[int, Sampled] = {}
        while self.running:
            ended = self.speak(limit, constraint)
            for number in ended:
                self.drop(number)
            said |= ended
        return [said[number] for number in sorted(said)]
