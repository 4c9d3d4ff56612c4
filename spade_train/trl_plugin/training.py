"""One run: the model, TRL's trainer around it, every round, the checkpoint at the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from transformers import PrinterCallback
from transformers.utils.logging import disable_progress_bar
from trl import GRPOTrainer, get_peft_config, get_quantization_config

from spade_envs.errors import UsageError
from spade_train.display import Display
from spade_train.playing.warm_up import WarmUp, lessons, warm_up
from spade_train.runs.checkpoints import STATE_FILE, Checkpoint, mark
from spade_train.runs.folder import RunFolder
from spade_train.selfplay import SelfPlay
from spade_train.trl_plugin.hook import Hook
from spade_train.trl_plugin.rollout import advantage, sampling, tasks
from spade_train.trl_plugin.scoring import score_completions_only
from spade_train.trl_plugin.settings import Settings
from spade_train.trl_plugin.vllm import engine
from spade_train.trl_plugin.weights import designer, loading, part_roles, tokenizer
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
    path = start.checkpoint.path if start.checkpoint else None
    other = designer(settings, path)
    hook = Hook(selfplay, run, display, settings, other, start.entries, start.round)
    trainer = _trainer(settings, start.model, hook)
    if start.checkpoint is None and settings.selfplay.warm_up_steps:
        _warm_up(trainer, hook, settings)
    try:
        trainer.train(resume_from_checkpoint=str(path) if path else None)
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
        **loading(settings),
        **(args.model_init_kwargs or {}),
    }
    if settings.selfplay.has_two_weights and args.ddp_find_unused_parameters is None:
        args.ddp_find_unused_parameters = True  # a micro-batch may hold rows of one role only
    schedule, world = hook.selfplay.schedule, hook.selfplay.world
    try:
        trainer = GRPOTrainer(
            model=model,
            args=args,
            processing_class=tokenizer(model, options.model_revision),
            train_dataset=tasks(settings.selfplay.rounds, schedule, world.size),
            reward_funcs=[advantage],
            rollout_func=hook.rollout,
            callbacks=[hook],
            peft_config=get_peft_config(options),
            quantization_config=get_quantization_config(options),
        )
    except Exception as problem:
        if args.use_vllm:  # it raises whatever its engine, its server and the device lead it into
            said = next(iter(str(problem).splitlines()), type(problem).__name__)
            raise UsageError(f"The model {model} cannot be loaded, or vLLM not be used: {said}") from problem
        if not isinstance(problem, OSError | ValueError):
            raise
        raise UsageError(f"The model {model} cannot be loaded: {str(problem).splitlines()[0]}") from problem
    trainer.remove_callback(PrinterCallback)
    part_roles(trainer, hook, settings)
    hook.engine = engine(trainer)
    return trainer


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
