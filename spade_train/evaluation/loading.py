"""A model's weights as a policy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from spade_envs.errors import UsageError
from spade_train.models.check import check_tokenizer
from spade_train.playing.decoding import Policy
from spade_train.playing.sampling import Filters


@dataclass(frozen=True)
class Sampling:
    """How a model is loaded and sampled.

    Attributes:
        device: ``"cpu"``, ``"cuda"``; None takes the fastest there is.
        dtype: of the weights, as torch names it; None takes what they were saved in.
        template: settings of the chat template.
    """

    temperature: float
    device: str | None = None
    dtype: str | None = None
    filters: Filters = field(default_factory=Filters)
    template: dict[str, Any] = field(default_factory=dict)


def load(model: str, sampling: Sampling) -> Policy:
    """Load a model, or an adapter with the model below it.

    Raises:
        UsageError: it cannot be loaded.
    """
    device = sampling.device or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        weights = AutoModelForCausalLM.from_pretrained(model, dtype=sampling.dtype or "auto")
        tokenizer = AutoTokenizer.from_pretrained(model, padding_side="left")
    except (OSError, ValueError, ImportError) as problem:
        first = next(iter(str(problem).splitlines()), type(problem).__name__)
        raise UsageError(f"the model {model} cannot be loaded: {first}") from problem
    check_tokenizer(model, tokenizer, weights.config, lambda _: None)
    return Policy(
        weights.to(device).eval(),
        tokenizer,
        sampling.temperature,
        torch.Generator(device),
        sampling.filters,
        sampling.template,
    )
