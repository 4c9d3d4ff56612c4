"""An engine that computes with transformers what vLLM would: whole reads, one reply at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch

from spade_train.playing.engine import Reply, Request


@dataclass
class WholeReads:
    """The model of the policy, asked as an engine is; it answers the shortest limit first, two at a time."""

    model: Any
    asked: list[Request] = field(default_factory=list)
    waiting: list[Request] = field(default_factory=list)

    def ask(self, request: Request) -> None:
        self.asked.append(request)
        self.waiting.append(request)

    def replies(self) -> list[Reply]:
        now, self.waiting = self.waiting[:2], self.waiting[2:]
        return [self._answer(one) for one in now]

    def forget(self) -> None:
        self.waiting.clear()

    @torch.no_grad()
    def _answer(self, request: Request) -> Reply:
        draws = torch.Generator().manual_seed(request.seed)
        said: list[int] = []
        chances: list[float] = []
        while len(said) < request.limit and not request.stop.intersection(said[-1:]):
            ids = torch.tensor([[*request.tokens, *said]])
            scores = torch.log_softmax(self.model(ids).logits[0, -1].float() / request.temperature, -1)
            said.append(int(torch.multinomial(scores.exp(), 1, generator=draws)))
            chances.append(float(scores[said[-1]]))
        return Reply(request.row, said, chances)
