"""Designs from a model in this process, sampled by the trainer's own decoder."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any

from spade_envs.errors import SpadeError, UsageError
from spade_train.backends.interface import Answer, Ask, Failed
from spade_train.backends.options import Options

if TYPE_CHECKING:
    from spade_train.playing.constraint import JsonConstraint
    from spade_train.playing.decoding import Policy


class Local:
    """Asks a policy; asks that are sampled alike share a batch of ``options.parallel`` rows.

    Args:
        load: gives the policy when it is first asked, for weights take minutes; it raises UsageError where it cannot.
        name: kind and model.
        options: how it is asked.
    """

    def __init__(self, load: Callable[[], Policy], name: str, options: Options | None = None) -> None:
        self._load, self.name, self.options = load, name, options or Options()
        self._grammars: dict[str, JsonConstraint] = {}

    @cached_property
    def policy(self) -> Policy:
        """The model. Raises UsageError where it cannot be loaded."""
        return self._load()

    def answer(self, asks: Sequence[Ask]) -> list[Answer | Failed]:
        """Sample a reply to each. Raises UsageError where the model cannot be loaded."""
        alike = [list(group) for _, group in groupby(asks, lambda ask: replace(ask, seed=0, messages=()))]
        size = self.options.parallel
        parts = [group[at : at + size] for group in alike for at in range(0, len(group), size)]
        return [one for part in parts for one in self._tried(part)]

    def _tried(self, asks: Sequence[Ask]) -> list[Answer | Failed]:
        policy = self.policy
        try:
            return self._sampled(policy, asks)
        except (
            SpadeError,
            RuntimeError,
            ValueError,
            MemoryError,
        ) as problem:  # too long a prompt, too little memory
            said = next(iter(str(problem).splitlines()), type(problem).__name__)
            reason = f"{self.name}: {said}; a smaller batch or a shorter prompt may help"
            return [Failed(reason)] * len(asks)

    def _sampled(self, policy: Policy, asks: Sequence[Ask]) -> list[Answer | Failed]:
        from spade_train.playing.decoding import Decoder
        from spade_train.playing.sampling import Filters, Sampler

        first = asks[0]
        prompts = [policy.ids(policy.chat.render([dict(one) for one in ask.messages])) for ask in asks]
        _check_length(policy, max(map(len, prompts)) + first.max_tokens)
        decoder = Decoder(
            policy.model,
            prompts,
            sampler=Sampler(first.temperature, Filters(top_p=first.top_p)),
            stop=policy.stop,
            seeds=[ask.seed for ask in asks],
        )
        said = decoder.sample(first.max_tokens, self._grammar(policy, first))
        return [
            self._answer(policy, len(prompt), one.tokens, first.max_tokens)
            for prompt, one in zip(prompts, said, strict=True)
        ]

    def _answer(self, policy: Policy, read: int, tokens: Sequence[int], most: int) -> Answer:
        cut = len(tokens) >= most and tokens[-1] not in policy.stop
        return Answer(policy.text(tokens), read, len(tokens), cut, self.options.cost(read, len(tokens)))

    def _grammar(self, policy: Policy, ask: Ask) -> JsonConstraint | None:
        if ask.schema is None:
            return None
        from spade_train.playing.constraint import JsonConstraint

        text = json.dumps(dict(ask.schema))
        if text not in self._grammars:  # it takes a second to build
            size = policy.model.config.get_text_config().vocab_size
            self._grammars[text] = JsonConstraint(policy.tokenizer, ask.schema, size)
        return self._grammars[text]


def load_policy(place: str, setting: str) -> Policy:
    """Load a model's folder, its name on the hub, or a GGUF file, onto an accelerator where there is one.

    Raises:
        UsageError: there is no such model, or it cannot be loaded.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from spade_train.models.model import pretrained
    from spade_train.playing.decoding import Policy

    source, options = pretrained(place, setting)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    dtype: Any = torch.bfloat16 if device == "cuda" else torch.float32
    try:
        model = AutoModelForCausalLM.from_pretrained(source, dtype=dtype, **options)
        tokenizer = AutoTokenizer.from_pretrained(source, padding_side="left", **options)
    except Exception as problem:  # files of any kind: transformers raises whatever they lead it into
        said = next(iter(str(problem).splitlines()), type(problem).__name__)
        raise UsageError(f"{setting} {place} cannot be loaded: {said}") from problem
    return Policy(model.to(device).eval(), tokenizer)


def _check_length(policy: Policy, longest: int) -> None:
    reads = getattr(policy.model.config.get_text_config(), "max_position_embeddings", None)
    if reads is not None and longest > reads:
        raise UsageError(f"prompt and reply make up to {longest} tokens, and the model reads {reads}")
