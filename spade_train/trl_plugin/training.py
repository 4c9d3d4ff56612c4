"""One run: the model, TRL's trainer around it, every round, the checkpoint at the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from transformers import AutoModelForCausalLM, AutoTokenizer, PrinterCallback
from transformers.utils.logging import disable_progress_bar
from trl import GRPOTrainer, get_peft_config, get_quantization_config

from spade_envs.errors import UsageError
from spade_train.display import Display
from spade_train.playing.decoding import Policy
from spade_train.playing.warm_up import WarmUp, lessons, warm_up
from spade_train.runs.checkpoints import STATE_FILE, Checkpoint, mark
from spade_train.runs.folder import RunFolder
from spade_train.selfplay import SelfPlay
from spade_train.trl_plugin.adapters import RoleAdapters
from spade_train.trl_plugin.gradients import RoleGradients
from spade_train.trl_plugin.hook import Hook
from spade_train.trl_plugin.padding import skip_padding
from spade_train.trl_plugin.rates import scale_learning_rate
from spade_train.trl_plugin.rollout import advantage, filters, sampling, tasks
from spade_train.trl_plugin.scoring import score_completions_only
from spade_train.trl_plugin.settings import Settings
from spade_train.trl_plugin.two_models import FOLDER, TwoModels
from spade_train.world import World


@dataclass(frozen=True)
class Start:
    """Where a run begins.

    Attributes:
        model: what ``from_pretrained`` loads.
        checkpoint: where it goes on; None for a new run.
        entries: the records of the rounds before.
    """

    model: str
    checkpoint: Checkpoint | None = None
    entries: tuple[dict[str, Any], ...] = ()

    @property
    def round(self) -> int:
        """The first round that is played."""
        return self.checkpoint.round if self.checkpoint else 0


def world() -> World:
    """Return this process's place among those that train together."""
    from accelerate import PartialState

    state = PartialState()
    return World(state.process_index, state.num_processes)


def train(
    settings: Settings,
    start: Start,
    selfplay: SelfPlay,
    run: RunFolder,
    display: Display,
) -> list[dict[str, Any]]:
    """Run every round that is left, save the model, and return all rounds' records.

    On Ctrl-C what the last whole round has reached is saved before the interrupt goes on.

    Raises:
        UsageError: the model cannot be loaded.
    """
    disable_progress_bar()
    score_completions_only()
    hook = Hook(selfplay, run, display, settings, _designer(settings, start), start.entries, start.round)
    trainer = _trainer(settings, start.model, hook)
    if start.checkpoint is None and settings.selfplay.warm_up_steps:
        _warm_up(trainer, hook, settings)
    try:
        trainer.train(resume_from_checkpoint=str(start.checkpoint.path) if start.checkpoint else None)
    except KeyboardInterrupt:
        _save_last_round(trainer, hook)
        raise
    trainer.save_model(str(run.scratch()))
    selfplay.world.gather(None)  # all parts are written
    if selfplay.world.first:
        run.publish()
    return hook.entries


def _trainer(settings: Settings, model: str, hook: Hook) -> GRPOTrainer:
    args, options = settings.grpo, settings.model
    args.output_dir = str(hook.run.checkpoints)
    args.scale_rewards = "none"  # rewards come to TRL as advantages: scaled by role
    args.model_init_kwargs = {
        "revision": options.model_revision,
        **_loading(settings),
        **(args.model_init_kwargs or {}),
    }
    if settings.selfplay.has_two_weights and args.ddp_find_unused_parameters is None:
        args.ddp_find_unused_parameters = True  # a micro-batch may hold rows of one role only
    schedule, world = hook.selfplay.schedule, hook.selfplay.world
    try:
        trainer = GRPOTrainer(
            model=model,
            args=args,
            processing_class=_tokenizer(model, options.model_revision),
            train_dataset=tasks(settings.selfplay.rounds, schedule, world.size),
            reward_funcs=[advantage],
            rollout_func=hook.rollout,
            callbacks=[hook],
            peft_config=get_peft_config(options),
            quantization_config=get_quantization_config(options),
        )
    except (OSError, ValueError) as problem:
        raise UsageError(f"The model {model} cannot be loaded: {str(problem).splitlines()[0]}") from problem
    trainer.remove_callback(PrinterCallback)
    _part_roles(trainer, hook, settings)
    return trainer


def _part_roles(trainer: GRPOTrainer, hook: Hook, settings: Settings) -> None:
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


def _loading(settings: Settings) -> dict[str, Any]:
    """How a model that is trained is loaded."""
    options = settings.model
    return {"attn_implementation": options.attn_implementation, "dtype": options.dtype or "float32"}


def _warm_up(trainer: GRPOTrainer, hook: Hook, settings: Settings) -> None:
    """Learn the format from experts' episodes; every process does the same."""
    own, selfplay = settings.selfplay, hook.selfplay
    plan = WarmUp(own.warm_up_steps, learning_rate=own.warm_up_learning_rate, seed=selfplay.seed)
    hook.display.console.print(f"warming up: {plan.steps} steps on experts' episodes")
    with sampling(trainer, selfplay.seed, -1) as policy:
        episodes = lessons(policy, list(selfplay.pool), selfplay.make, selfplay.limits, plan)
    losses = warm_up(trainer.accelerator.unwrap_model(trainer.model), episodes, plan)
    if losses:
        hook.display.console.print(f"loss per token {losses[0]:.2f} to {losses[-1]:.2f}")


def _tokenizer(model: str, revision: str | None) -> Any:
    return AutoTokenizer.from_pretrained(model, revision=revision, padding_side="left")


def _designer(settings: Settings, start: Start) -> Policy | None:
    """Load the designer that is another model, if there is one; one that learns, as it was at the checkpoint."""
    own, grpo = settings.selfplay, settings.grpo
    if own.designer_model is None:
        return None
    name, options = own.designer_model, {"dtype": settings.model.dtype or "auto"}
    if own.trains_two_models:
        options = _loading(settings)
        name = str(start.checkpoint.path / FOLDER) if start.checkpoint else name
    try:
        model = AutoModelForCausalLM.from_pretrained(name, **options)
        tokenizer = _tokenizer(name, None)
    except (OSError, ValueError) as problem:
        raise UsageError(
            f"designer_model {name} cannot be loaded: {str(problem).splitlines()[0]}"
        ) from problem
    return Policy(
        model.to("cpu" if grpo.use_cpu else grpo.device).eval(),
        tokenizer,
        grpo.temperature if own.designer_temperature is None else own.designer_temperature,
        None,
        filters(grpo),
        grpo.chat_template_kwargs or {},
    )


def freeze_lower(model: Any, upper: int) -> None:
    """Leave gradients to the upper layers; the backward pass ends below them. Embeddings and head are frozen."""
    if not upper:
        return
    model.requires_grad_(False)
    for layer in model.base_model.layers[-upper:]:
        layer.requires_grad_(True)


def _save_last_round(trainer: GRPOTrainer, hook: Hook) -> None:
    """Save what the last whole round has reached, where that is not on disk yet.

    Between optimiser steps the weights are those of that round; only the generator has moved on since.
    """
    path = hook.run.checkpoints / f"checkpoint-{trainer.state.global_step}"
    if hook.between is None or (path / STATE_FILE).exists() or hook.selfplay.world.size > 1:
        return
    hook.between.restore()
    trainer._save_checkpoint(trainer.model, trial=None)  # what `save_steps` calls; there is no public name
    mark(path, hook.between.state)
