"""What an engine is asked, one turn of one conversation at a time, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from spade_envs.errors import SpadeError
from spade_train.playing.sampling import Filters


class EngineError(SpadeError):
    """The engine or its server failed; the round is played again, or skipped, on record."""


@dataclass(frozen=True)
class Request:
    """One turn of one conversation.

    Attributes:
        row: the conversation's number.
        tokens: all of it so far.
        limit: how many tokens the turn may have.
        stop: ids that end it; the one that does is part of the reply.
        seed: of the turn's own draws.
        schema: of the JSON value that the reply must be, where it must be one.
    """

    row: int
    tokens: tuple[int, ...]
    limit: int
    stop: frozenset[int]
    seed: int
    temperature: float = 1.0
    filters: Filters = field(default_factory=Filters)
    schema: Mapping[str, Any] | None = None

    def words(self) -> dict[str, Any]:
        """Return the request under the names of vLLM's ``SamplingParams``, but for the schema."""
        filters = self.filters
        return {
            "temperature": self.temperature,
            "top_p": filters.top_p,
            "top_k": filters.top_k,
            "min_p": filters.min_p or 0.0,
            "repetition_penalty": filters.repetition_penalty,
            "max_tokens": self.limit,
            "logprobs": 0,  # the chosen token's alone
            "seed": self.seed,
        }

    @property
    def stops(self) -> list[int]:
        """The ids that end the turn, in order."""
        return sorted(self.stop)


@dataclass(frozen=True)
class Reply:
    """What was said.

    Attributes:
        row: of the request.
        logprobs: of each token in what it was drawn from: after temperature, filters and schema; NaN where unknown.
    """

    row: int
    tokens: list[int]
    logprobs: list[float]


class Engine(Protocol):
    """Answers requests as it sees fit, many at once."""

    def ask(self, request: Request) -> None:
        """Begin to answer a request. Raises :class:`EngineError`."""

    def replies(self) -> list[Reply]:
        """Wait until some requests are answered and return those replies. Raises :class:`EngineError`."""

    def forget(self) -> None:
        """Drop every request that is not answered."""
