"""Batched sampling over one key-value cache that lives as long as the episodes.

Each turn feeds only what is new: what the model has said is never tokenised again, and what it has read is
never read twice. Rows of one block share their prompt; it is read once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from transformers import DynamicCache

from spade_train.constraint import Constraint


@dataclass
class Sampled:
    """One row's new tokens; ``chosen`` is 1 where the model chose and 0 where the grammar left no choice."""

    tokens: list[int] = field(default_factory=list)
    chosen: list[int] = field(default_factory=list)

    def extend(self, tokens: Sequence[int], chosen: int) -> None:
        """Append tokens of one kind."""
        self.tokens += tokens
        self.chosen += [chosen] * len(tokens)


class Decoder:
    """A batch of conversations with one model.

    Args:
        model: a causal language model of transformers.
        prompts: token ids, one list a row; none may be empty.
        temperature: divides the logits; 0 takes the likeliest token.
        stop: ids that end a turn.
        generator: where the draws come from (default: torch's global generator).

    Attributes:
        logits: float32 (rows, vocabulary), for the token that comes next in each row.
    """

    logits: torch.Tensor

    def __init__(
        self,
        model: Any,
        prompts: Sequence[Sequence[int]],
        *,
        temperature: float,
        stop: frozenset[int],
        generator: torch.Generator | None = None,
    ) -> None:
        self._model, self._temperature, self._stop, self._generator = model, temperature, stop, generator
        distinct = {prompt: row for row, prompt in enumerate(dict.fromkeys(map(tuple, prompts)))}
        self._cache = DynamicCache(config=model.config)
        self._seen = torch.zeros(len(distinct), 0, dtype=torch.long, device=model.device)
        self._unread: list[list[int]] = [[] for _ in distinct]  # sampled, but not yet in the cache
        self._read([list(prompt) for prompt in distinct])
        self.keep([distinct[tuple(prompt)] for prompt in prompts])

    def keep(self, rows: Sequence[int]) -> None:
        """Go on with these rows, in this order; a row may be named twice."""
        index = torch.tensor(rows, device=self._seen.device)
        self._cache.batch_select_indices(index)
        self._seen, self.logits = self._seen[index], self.logits[index]
        self._unread = [list(self._unread[row]) for row in rows]

    def append(self, rows: Sequence[Sequence[int]]) -> None:
        """Let every row read tokens that it did not choose: at least one each, or none at all."""
        unread = [[*old, *new] for old, new in zip(self._unread, rows, strict=True)]
        self._unread = [[] for _ in rows]
        self._read(unread)

    def sample(self, limit: int, constraint: Constraint | None = None) -> list[Sampled]:
        """Let every row speak until it ends its turn or has said ``limit`` tokens."""
        said = [Sampled() for _ in self._unread]
        if constraint:
            for row, forced in enumerate(constraint.start(len(said))):
                said[row].extend(forced, 0)
            self.append([list(row.tokens) for row in said])
        live = set(range(len(said)))
        while True:
            for row, token in enumerate(self._draw(constraint)):
                if row in live:
                    forced = constraint.advance(row, token) if constraint and token not in self._stop else []
                    said[row].extend([token], 1)
                    said[row].extend(forced, 0)
                    self._unread[row] = [token, *forced]
                    if said[row].tokens[-1] in self._stop or len(said[row].tokens) >= limit:
                        live.discard(row)
            if not live:
                return said
            self._read([self._unread[row] if row in live else [] for row in range(len(said))])
            self._unread = [[] if row in live else unread for row, unread in enumerate(self._unread)]

    def _draw(self, constraint: Constraint | None) -> list[int]:
        logits = self.logits
        if constraint:
            constraint.mask(logits)
        if not self._temperature:
            return logits.argmax(-1).tolist()
        chances = (logits / self._temperature).softmax(-1)
        return torch.multinomial(chances, 1, generator=self._generator)[:, 0].tolist()

    def _read(self, rows: list[list[int]]) -> None:
        """Feed new tokens, padded on the left; what is padding stays masked for ever."""
        width = max(map(len, rows))
        if not width:
            return
        device = self._seen.device
        ids = torch.tensor([[0] * (width - len(row)) + row for row in rows], device=device)
        real = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows], device=device)
        self._seen = torch.cat([self._seen, real], dim=1)
        positions = (self._seen.cumsum(1) - 1).clamp(min=0)[:, -width:]
        logits = (
            self._model(
                input_ids=ids,
                attention_mask=self._seen,
                position_ids=positions,
                cache=self._cache,
                use_cache=True,
                logits_to_keep=1,
            )
            .logits[:, -1]
            .float()
        )
        self.logits = logits


@dataclass(frozen=True)
class Policy:
    """A model with its tokenizer and its manner of sampling; both roles are played by one of these."""

    model: Any
    tokenizer: Any
    temperature: float = 1.0
    generator: torch.Generator | None = None

    @property
    def stop(self) -> frozenset[int]:
        """Ids that end a turn."""
        more = getattr(self.model.generation_config, "eos_token_id", None)
        declared = more if isinstance(more, list) else [] if more is None else [more]
        return frozenset([self.tokenizer.eos_token_id, *declared])

    def decoder(self, prompts: Sequence[Sequence[int]]) -> Decoder:
        """Begin a batch of conversations."""
        return Decoder(
            self.model, prompts, temperature=self.temperature, stop=self.stop, generator=self.generator
        )

    def ids(self, text: str) -> list[int]:
        """Return the tokens of a text that holds its own control tokens."""
        return list(self.tokenizer(text, add_special_tokens=False).input_ids)

    def text(self, ids: Sequence[int]) -> str:
        """Return what was said, without control tokens."""
        return str(self.tokenizer.decode(ids, skip_special_tokens=True))
