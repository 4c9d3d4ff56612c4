"""A model's sizes, counted on a model without storage: the same code freezes and adapts it as in training."""

from __future__ import annotations

from typing import Any

import torch
from transformers import AutoModelForCausalLM
from trl import get_peft_config

from spade_envs.errors import UsageError
from spade_train.models.footprint import Shape
from spade_train.trl_plugin.settings import Settings
from spade_train.trl_plugin.weights import freeze_lower


def parameters(config: Any) -> int:
    """Return how many parameters a model of this configuration has."""
    return sum(one.numel() for one in _empty(config).parameters())


def shape(settings: Settings, config: Any) -> Shape:
    """Return the sizes of the model of this configuration under these settings."""
    model, text = _empty(config), config.get_text_config()
    heads = text.num_attention_heads
    size = getattr(text, "head_dim", None) or text.hidden_size // heads
    head = model.get_output_embeddings()
    linear = sum(
        module.weight.numel()
        for module in model.modules()
        if isinstance(module, torch.nn.Linear) and module is not head
    )
    own = sum(one.numel() for one in model.parameters())
    upper = settings.selfplay.upper_layers
    return Shape(
        layers=text.num_hidden_layers,
        trained=upper or text.num_hidden_layers,
        hidden=text.hidden_size,
        queries=heads * size,
        keys=(getattr(text, "num_key_value_heads", None) or heads) * size,
        inner=_inner(text),
        vocabulary=text.vocab_size,
        parameters=own,
        linear=linear,
        trainable=_trainable(model, settings),
    )


def _empty(config: Any) -> Any:
    with torch.device("meta"):
        return AutoModelForCausalLM.from_config(config)


def _trainable(model: Any, settings: Settings) -> int:
    adapters = get_peft_config(settings.model)
    if adapters is not None:
        from peft import get_peft_model

        try:
            model = get_peft_model(model, adapters)
        except ValueError as problem:
            raise UsageError(f"lora_target_modules: {problem}") from problem
    else:
        freeze_lower(model, settings.selfplay.upper_layers)
    count = sum(one.numel() for one in model.parameters() if one.requires_grad)
    return int(count * (2 if settings.selfplay.role_adapters else 1))


def _inner(text: Any) -> int:
    """The feed-forward width that one token goes through; of experts, those that it is sent to."""
    chosen, width = getattr(text, "num_experts_per_tok", None), getattr(text, "moe_intermediate_size", None)
    if chosen and width:
        return int(chosen * width)
    return int(getattr(text, "intermediate_size", None) or 4 * text.hidden_size)
