"""Conversations that an engine carries on: each turn is a request of all that was said before.

Nothing is read twice for that: the engine knows a conversation's beginning again (vLLM's prefix cache).
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

from spade_train.playing.constraint import Constraint
from spade_train.playing.conversations import Conversations, Sampled
from spade_train.playing.engine import Engine, Reply, Request
from spade_train.playing.sampling import Sampler


@dataclass(eq=False)
class _Row:
    tokens: list[int]
    draws: random.Random
    asked: bool = False
    speaks: bool = True


class Turns(Conversations):
    """An engine's :class:`spade_train.playing.conversations.Conversations`.

    Args:
        engine: who samples; what it was asked before and has not answered is forgotten.
        prompts: token ids, one list a row; none may be empty.
        sampler: how tokens are chosen.
        stop: ids that end a turn.
        seeds: of each row's own draws.
    """

    def __init__(
        self,
        engine: Engine,
        prompts: Sequence[Sequence[int]],
        *,
        sampler: Sampler,
        stop: frozenset[int],
        seeds: Sequence[int],
    ) -> None:
        engine.forget()  # a round that failed may have left some
        self._engine, self._sampler, self._stop = engine, sampler, stop
        pairs = zip(prompts, seeds, strict=True)
        self._rows = {n: _Row(list(prompt), random.Random(seed)) for n, (prompt, seed) in enumerate(pairs)}

    @property
    def running(self) -> int:
        """See :class:`Conversations`."""
        return len(self._rows)

    def speak(self, limit: int, constraint: Constraint | None = None) -> dict[int, Sampled]:
        """See :class:`Conversations`."""
        for number, row in self._rows.items():
            if row.speaks and not row.asked:
                self._engine.ask(self._request(number, row, limit, constraint))
                row.asked = True
        if not any(row.asked for row in self._rows.values()):
            return {}
        said = {}
        for reply in self._engine.replies():
            row = self._rows[reply.row]
            row.tokens += reply.tokens
            row.asked = row.speaks = False
            said[reply.row] = _sampled(reply, constraint)
        return said

    def hear(self, number: int, tokens: Sequence[int]) -> None:
        """See :class:`Conversations`."""
        row = self._rows[number]
        row.tokens += tokens
        row.speaks = True

    def drop(self, number: int) -> None:
        """See :class:`Conversations`."""
        del self._rows[number]

    def _request(self, number: int, row: _Row, limit: int, constraint: Constraint | None) -> Request:
        return Request(
            number,
            tuple(row.tokens),
            limit,
            self._stop,
            row.draws.getrandbits(31),
            self._sampler.temperature,
            self._sampler.filters,
            constraint.schema if constraint else None,
        )


def _sampled(reply: Reply, constraint: Constraint | None) -> Sampled:
    """Return a reply as it is trained on.

    What a grammar left is far likelier than among all tokens, and GRPO scores them among all, whoever sampled: with
    such likelihoods its correction for the sampler would leave out every design. NaN tells it to correct nothing.
    """
    if constraint is None:
        return Sampled(list(reply.tokens), [1] * len(reply.tokens), list(reply.logprobs))
    return Sampled(list(reply.tokens), constraint.chosen(reply.tokens), [math.nan] * len(reply.tokens))
