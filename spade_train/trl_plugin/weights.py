"""Which weights a run loads and trains, and which of them a role's rows go through."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GRPOTrainer

from spade_envs.errors import UsageError
from spade_train.playing.decoding import Policy
from spade_train.trl_plugin.adapters import RoleAdapters
from spade_train.trl_plugin.gradients import RoleGradients
from spade_train.trl_plugin.hook import Hook
from spade_train.trl_plugin.padding import skip_padding
from spade_train.trl_plugin.rates import scale_learning_rate
from spade_train.trl_plugin.rollout import filters
from spade_train.trl_plugin.settings import Settings
from spade_train.trl_plugin.two_models import FOLDER, TwoModels


def loading(settings: Settings) -> dict[str, Any]:
    """Return how a model that is trained is loaded."""
    options = settings.model
    return {"attn_implementation": options.attn_implementation, "dtype": options.dtype or "float32"}


def tokenizer(model: str, revision: str | None) -> Any:
    """Return a model's tokenizer, which pads on the left as sampling wants it."""
    return AutoTokenizer.from_pretrained(model, revision=revision, padding_side="left")


def designer(settings: Settings, checkpoint: Path | None) -> Policy | None:
    """Load the designer that is another model, if there is one; one that learns, as it was at the checkpoint.

    Raises:
        UsageError: it cannot be loaded.
    """
    own, grpo = settings.selfplay, settings.grpo
    if own.designer_model is None:
        return None
    name, options = own.designer_model, {"dtype": settings.model.dtype or "auto"}
    if own.trains_two_models:
        options = loading(settings)
        name = str(checkpoint / FOLDER) if checkpoint else name
    try:
        model = AutoModelForCausalLM.from_pretrained(name, **options)
        words = tokenizer(name, None)
    except (OSError, ValueError) as problem:
        raise UsageError(
            f"designer_model {name} cannot be loaded: {str(problem).splitlines()[0]}"
        ) from problem
    return Policy(
        model.to("cpu" if grpo.use_cpu else grpo.device).eval(),
        words,
        grpo.temperature if own.designer_temperature is None else own.designer_temperature,
        None,
        filters(grpo),
        grpo.chat_template_kwargs or {},
    )


def part_roles(trainer: GRPOTrainer, hook: Hook, settings: Settings) -> None:
    """Freeze what is not trained, and send each role's rows through its own weights, where it has such."""
    model = trainer.accelerator.unwrap_model(trainer.model)
    agent = model.get_base_model() if hasattr(model, "get_base_model") else model
    trained, own = [agent], settings.selfplay
    freeze_lower(agent, own.upper_layers)
    if own.trains_two_models:
        assert hook.designer is not None  # the setting names one
        other = hook.designer.model
        freeze_lower(other, own.upper_layers)
        trained.append(other)
        TwoModels(agent, hook.designer, hook.role, exact_head=trainer.args.cast_lm_head_to_fp32)
        scale_learning_rate(trainer, other.parameters(), own.designer_scale)
    hook.gradients = RoleGradients(hook.role, *(one.base_model for one in trained))
    if own.role_adapters:
        hook.adapters = RoleAdapters(model, agent.base_model, hook.role)
        scale_learning_rate(trainer, hook.adapters.designer, own.designer_scale)
    for one in trained:
        skip_padding(one.base_model)


def freeze_lower(model: Any, upper: int) -> None:
    """Leave gradients to the upper layers; the backward pass ends below them. Embeddings and head are frozen."""
    if not upper:
        return
    model.requires_grad_(False)
    for layer in model.base_model.layers[-upper:]:
        layer.requires_grad_(True)
