"""Many conversations with one model, in which nobody waits for the slowest speaker.

A row whose turn has ended is answered at once and reads on while others still speak. Each token is read once:
what the model has said is never tokenised again, and what prompts share (the rules, the worked examples) is read
for all of them.

A pass of the model has a price of its own, whatever its width; and rows of one pass are padded to its widest. So
rows read together as long as their padding costs less than another pass: on a CPU a long answer is read beside
others' single tokens in a pass of its own, on an accelerator in the same one. Answers are read as they come: to
let them wait for each other, or to read them word by word in passes that others need anyway, saved nothing.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch

from spade_train.playing.chat import Chat
from spade_train.playing.constraint import Constraint
from spade_train.playing.conversations import Conversations, Sampled
from spade_train.playing.engine import Engine
from spade_train.playing.forward import Forward
from spade_train.playing.sampling import Filters, Sampler
from spade_train.playing.turns import Turns

PASS = {"cpu": 10}
"""What a pass costs beside its tokens, in tokens, by kind of device. On two cores SmolLM2 gives 14 tokens a second
at batch 1 and 144 at 64: 65 ms a pass and 6 ms a token."""
PASS_ELSEWHERE = 2000
"""An accelerator computes hundreds of tokens in the time in which it reads the weights."""

SHARED = 16
"""Beginnings of fewer tokens are not worth a pass."""


@dataclass(eq=False)
class _Row:
    """One conversation: all its tokens, and how many of them are in the cache."""

    number: int
    tokens: list[int]
    draws: random.Random
    read: int = 0
    said: Sampled = field(default_factory=Sampled)
    speaks: bool = True
    logits: torch.Tensor | None = None

    @property
    def unread(self) -> int:
        return len(self.tokens) - self.read

    def say(self, tokens: Sequence[int], chosen: int) -> None:
        self.tokens += tokens
        self.said.extend(tokens, chosen)


class Decoder(Conversations):
    """The trainer's own :class:`Conversations`: with a model of transformers in this process.

    Args:
        model: a causal language model of transformers.
        prompts: token ids, one list a row; none may be empty.
        sampler: how tokens are chosen.
        stop: ids that end a turn.
        seeds: of each row's own draws: a row says the same in any batch, as far as the arithmetic does.
    """

    def __init__(
        self,
        model: Any,
        prompts: Sequence[Sequence[int]],
        *,
        sampler: Sampler,
        stop: frozenset[int],
        seeds: Sequence[int],
    ) -> None:
        self._sampler, self._stop = sampler, stop
        self._price = PASS.get(model.device.type, PASS_ELSEWHERE)
        self._forward = Forward(model)
        self._rows: list[_Row] = []
        distinct = list(dict.fromkeys(map(tuple, prompts)))
        shared = shared_heads(distinct)
        heads = [head for head in dict.fromkeys(shared.values()) if head]
        self._begin(heads, range(len(heads)), dict.fromkeys(heads, 0))
        self._begin(
            distinct,
            [heads.index(shared[prompt]) if shared[prompt] else 0 for prompt in distinct],
            {prompt: len(head) for prompt, head in shared.items()},
        )
        place = {prompt: slot for slot, prompt in enumerate(distinct)}
        places = [place[tuple(prompt)] for prompt in prompts]
        self._forward.cache.spread(places)
        self._rows = [
            _Row(n, list(prompt), random.Random(seed), len(prompt), logits=self._rows[slot].logits)
            for n, (slot, prompt, seed) in enumerate(zip(places, prompts, seeds, strict=True))
        ]

    def _begin(
        self, texts: Sequence[tuple[int, ...]], places: Sequence[int], read: dict[tuple[int, ...], int]
    ) -> None:
        """Go on from copies of these slots, of which so much is read, and read the rest of the texts."""
        if self._rows:
            self._forward.cache.spread(places)
        self._rows = [_Row(n, list(text), random.Random(), read[text]) for n, text in enumerate(texts)]
        self._read()

    @property
    def running(self) -> int:
        """See :class:`Conversations`."""
        return len(self._rows)

    def speak(self, limit: int, constraint: Constraint | None = None) -> dict[int, Sampled]:
        """See :class:`Conversations`."""
        while any(row.speaks for row in self._rows):
            self._read()
            self._choose(constraint)
            ended = [row for row in self._rows if row.speaks and self._ends(row, limit)]
            if ended:
                for row in ended:
                    row.speaks = False
                return {row.number: row.said for row in ended}
        return {}

    def hear(self, number: int, tokens: Sequence[int]) -> None:
        """See :class:`Conversations`."""
        row = self._rows[self._slot(number)]
        row.tokens += tokens
        row.said, row.speaks = Sampled(), True

    def drop(self, number: int) -> None:
        """See :class:`Conversations`; its place in the batch is free."""
        slot = self._slot(number)
        last = self._rows.pop()
        if slot < len(self._rows):
            self._forward.cache.move(len(self._rows), slot)
            self._rows[slot] = last

    def sample(self, limit: int, constraint: Constraint | None = None) -> list[Sampled]:
        """See :class:`Conversations`; what a grammar forces at the beginning is said for the rows."""
        for row in self._rows:
            row.say(constraint.start(row.number) if constraint else [], 0)
        return super().sample(limit, constraint)

    def _slot(self, number: int) -> int:
        return next(slot for slot, row in enumerate(self._rows) if row.number == number)

    def _ends(self, row: _Row, limit: int) -> bool:
        said = row.said.tokens
        return bool(said) and (said[-1] in self._stop or len(said) >= limit)

    def _read(self) -> None:
        """Let every row that speaks read all that it has not read."""
        for rows in self._passes([row for row in self._rows if row.speaks and row.unread]):
            self._pass(rows)

    def _passes(self, due: Sequence[_Row]) -> Iterator[list[_Row]]:
        """Yield who reads together, the longest first: another pass where padding would cost more than it."""
        together: list[_Row] = []
        padding = 0
        for row in sorted(due, key=lambda one: -one.unread):
            padding += together[0].unread - row.unread if together else 0
            if padding > self._price:
                yield together
                together, padding = [], 0
            together.append(row)
        if together:
            yield together

    def _pass(self, rows: Sequence[_Row]) -> None:
        slots = {id(row): slot for slot, row in enumerate(self._rows)}
        rows = sorted(rows, key=lambda row: slots[id(row)])
        logits = self._forward(
            [slots[id(row)] for row in rows],
            len(self._rows),
            [row.tokens[row.read :] for row in rows],
            [row.read for row in rows],
        )
        for row, last in zip(rows, logits, strict=True):
            row.read, row.logits = len(row.tokens), last

    def _choose(self, constraint: Constraint | None) -> None:
        """Let every row that has read all say its next token."""
        ready = [row for row in self._rows if row.speaks and not row.unread]
        if not ready:
            return
        logits = torch.stack([row.logits for row in ready if row.logits is not None])
        if constraint:
            for row, scores in zip(ready, logits, strict=True):
                constraint.mask(row.number, scores)
        chosen = self._sampler.choose(logits, [row.tokens for row in ready], [row.draws for row in ready])
        for row, token in zip(ready, chosen, strict=True):
            row.say([token], 1)
            if constraint and token not in self._stop:
                row.say(constraint.advance(row.number, token), 0)


def shared_heads(prompts: Sequence[tuple[int, ...]]) -> dict[tuple[int, ...], tuple[int, ...]]:
    """Return for each of the distinct prompts its beginning that others share, or nothing; one token stays.

    Prompts are gathered in their order as words in a dictionary, as long as that spares more tokens.
    """
    heads: dict[tuple[int, ...], tuple[int, ...]] = {}
    group: list[tuple[int, ...]] = []
    head: tuple[int, ...] = ()
    for prompt in [*sorted(prompts), ()]:
        common = prompt[: _alike(head, prompt[:-1])]
        if group and (len(common) < SHARED or len(common) * len(group) < len(head) * (len(group) - 1)):
            heads |= dict.fromkeys(group, head if len(group) > 1 else ())
            group = []
        head = common if group else prompt[:-1]
        group.append(prompt)
    return heads


def _alike(one: Sequence[int], other: Sequence[int]) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


@dataclass(frozen=True)
class Policy:
    """A model with its tokenizer and its manner of sampling; both roles are played by one of these.

    Attributes:
        generator: where the seeds of the rows' draws come from (default: torch's global generator).
        template: settings of the chat template, such as ``enable_thinking``.
        engine: samples in the place of the trainer's own decoder; it holds the model's weights.
    """

    model: Any
    tokenizer: Any
    temperature: float = 1.0
    generator: torch.Generator | None = None
    filters: Filters = field(default_factory=Filters)
    template: dict[str, Any] = field(default_factory=dict)
    engine: Engine | None = None

    @cached_property
    def chat(self) -> Chat:
        """The tokenizer's chat template."""
        return Chat(self.tokenizer, self.template)

    @cached_property
    def stop(self) -> frozenset[int]:
        """Ids that end a turn: the tokenizer's, the model's, and what the template closes a turn with."""
        more = getattr(self.model.generation_config, "eos_token_id", None)
        declared = more if isinstance(more, list) else [] if more is None else [more]
        closing = [] if self.chat.closing is None else [self.chat.closing]
        return frozenset([self.tokenizer.eos_token_id, *declared, *closing])

    def decoder(self, prompts: Sequence[Sequence[int]]) -> Conversations:
        """Begin a batch of conversations."""
        source = self.generator
        device = source.device if source else "cpu"
        seeds = torch.randint(2**62, (len(prompts),), generator=source, device=device).tolist()
        sampler = Sampler(self.temperature, self.filters)
        if self.engine is not None:
            return Turns(self.engine, prompts, sampler=sampler, stop=self.stop, seeds=seeds)
        return Decoder(self.model, prompts, sampler=sampler, stop=self.stop, seeds=seeds)

    def ids(self, text: str) -> list[int]:
        """Return the tokens of a text that holds its own control tokens."""
        return self.chat.ids(text)

    def text(self, ids: Sequence[int]) -> str:
        """Return what was said, without control tokens."""
        return str(self.tokenizer.decode(ids, skip_special_tokens=True))
