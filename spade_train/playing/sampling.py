"""From logits to a token: a row's draws are its own, whoever else is in the batch and whenever they speak."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from transformers import (
    LogitsProcessorList,
    MinPLogitsWarper,
    RepetitionPenaltyLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)


@dataclass(frozen=True)
class Filters:
    """What leaves unlikely tokens out, under the names and with the defaults of TRL's ``GRPOConfig``.

    As with TRL's own sampling, GRPO scores the tokens among all, not among those that were left.
    """

    top_p: float = 1.0
    top_k: int = 0
    min_p: float | None = None
    repetition_penalty: float = 1.0

    def processors(self, temperature: float) -> LogitsProcessorList:
        """Return transformers' processors, in the order in which ``generate`` applies them."""
        chosen = LogitsProcessorList()
        if self.repetition_penalty != 1.0:
            chosen.append(RepetitionPenaltyLogitsProcessor(self.repetition_penalty))
        if temperature not in (0.0, 1.0):
            chosen.append(TemperatureLogitsWarper(temperature))
        if self.top_k:
            chosen.append(TopKLogitsWarper(self.top_k))
        if self.top_p < 1.0:
            chosen.append(TopPLogitsWarper(self.top_p))
        if self.min_p:
            chosen.append(MinPLogitsWarper(self.min_p))
        return chosen


@dataclass(frozen=True)
class Sampler:
    """Chooses tokens; a temperature of 0 takes the likeliest one."""

    temperature: float = 1.0
    filters: Filters = field(default_factory=Filters)

    def choose(
        self, logits: torch.Tensor, heard: Sequence[Sequence[int]], draws: Sequence[random.Random]
    ) -> list[int]:
        """Return one token for each row.

        Args:
            logits: float32 (rows, vocabulary).
            heard: each row's tokens so far, for the repetition penalty; none may be empty.
            draws: where each row's numbers come from.
        """
        processors = self.filters.processors(self.temperature)
        if processors:
            logits = processors(_rectangle(heard, logits.device), logits)
        if not self.temperature:
            return logits.argmax(-1).tolist()
        # By inversion: one number a row, where torch.multinomial draws one for each word of the vocabulary, from
        # a generator that all rows share. In float64, so that the number, below 1, stays below the sum.
        chances = logits.softmax(-1)
        chances = chances.cpu() if chances.device.type == "mps" else chances  # which has no float64
        heaped = chances.double().cumsum(-1)
        numbers = [one.getrandbits(32) / 2**32 for one in draws]
        marks = torch.tensor(numbers, dtype=torch.float64, device=heaped.device)[:, None] * heaped[:, -1:]
        return torch.searchsorted(heaped, marks, right=True)[:, 0].tolist()


def _rectangle(rows: Sequence[Sequence[int]], device: torch.device) -> torch.Tensor:
    """Pad with each row's own first token: who has said it once is not punished twice."""
    width = max(map(len, rows))
    return torch.tensor([[row[0]] * (width - len(row)) + list(row) for row in rows], device=device)
