"""The only file that imports TRL: flags, data set, rollout, rewards and records for its ``GRPOTrainer``.

How a round becomes a batch of TRL's: the data set holds one row for each block, in order (designer, agent
0, ..., agent G-1); TRL repeats each G times, so one batch of ``G + G * G`` rows is one round, and takes its
baselines over consecutive groups of G rows, which are the blocks. The rollout function sees the rows' text
only, so a row's text is its task.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from datasets import Dataset
from transformers import AutoTokenizer, PrinterCallback, TrainerCallback
from transformers.utils.logging import disable_progress_bar
from trl import GRPOConfig, GRPOTrainer, ModelConfig, TrlParser, get_peft_config, get_quantization_config
from trl.models.utils import unwrap_model_for_generation

from spade_envs.errors import UsageError
from spade_train.clock import Clock
from spade_train.config import SelfPlayConfig, check_fixed, micro_batches
from spade_train.decoding import Policy
from spade_train.display import Display
from spade_train.flags import Words
from spade_train.gradients import RoleGradients
from spade_train.padding import skip_padding
from spade_train.records import RunFolder, design_entry, episode_entry, round_entry
from spade_train.selfplay import Round, SelfPlay


@dataclass(frozen=True)
class Settings:
    """All settings of a run: the trainer's own, TRL's, and the model's."""

    selfplay: SelfPlayConfig
    grpo: GRPOConfig
    model: ModelConfig


class _Parser(TrlParser):  # type: ignore[misc]  # trl has no types
    def error(self, message: str) -> None:
        raise UsageError(f"{message}. See spade-train --help.")


def parser() -> TrlParser:
    """Return the parser of every flag."""
    return _Parser((SelfPlayConfig, GRPOConfig, ModelConfig), prog="spade-train", allow_abbrev=False)


def known_settings() -> set[str]:
    """Return the name of every flag, without dashes."""
    return {action.dest for action in parser()._actions if action.dest != "help"}


def settings(said: Words) -> Settings:
    """Build the settings from what the command line says.

    Raises:
        UsageError: a setting that self-play fixes was set, or settings contradict each other.
    """
    check_fixed(name for _, name in said.names())
    full = parser()
    full.set_defaults_with_config(**said.preset)
    plain = full.parse_args(list(said.flags))
    full.set_defaults_with_config(**_derived(plain))
    try:
        selfplay, grpo, model = full.parse_args_into_dataclasses(list(said.flags))
    except ValueError as problem:
        raise UsageError(str(problem)) from problem
    selfplay.check(grpo.max_completion_length)
    if selfplay.upper_layers and model.use_peft:
        raise UsageError("upper_layers and use_peft contradict each other: adapters freeze all layers.")
    if grpo.world_size > 1:
        raise UsageError("Several processes are not supported yet: start spade-train without a launcher.")
    return Settings(selfplay, grpo, model)


def _derived(plain: Any) -> dict[str, Any]:
    """What TRL must be told so that one of its batches is one round."""
    bf16 = plain.bf16 if plain.bf16 is not None else _fast_bf16() and not plain.fp16
    return {
        "gradient_accumulation_steps": micro_batches(
            plain.num_generations, plain.per_device_train_batch_size
        ),
        "max_steps": plain.rounds * plain.num_iterations,
        "shuffle_dataset": False,
        "logging_steps": 1,
        "disable_tqdm": True,
        "bf16": bf16,
    }


def _fast_bf16() -> bool:
    """Whether this machine computes in bf16. A CPU that emulates it is ten times slower than in fp32."""
    if torch.cuda.is_available():
        return bool(torch.cuda.is_bf16_supported())
    return any(able for name, able in torch.cpu.get_capabilities().items() if name.endswith("bf16"))


def train(
    settings: Settings, model: str, make_selfplay: Callable[[], SelfPlay], run: RunFolder, display: Display
) -> list[dict[str, Any]]:
    """Run every round, save the checkpoint, and return the rounds' records.

    Raises:
        UsageError: the model cannot be loaded.
    """
    disable_progress_bar()
    hook = _Hook(make_selfplay(), run, display)
    trainer = _trainer(settings, model, hook)
    trainer.train()
    run.save_checkpoint(trainer.save_model)
    return hook.entries


def _trainer(settings: Settings, model: str, hook: _Hook) -> GRPOTrainer:
    args, options = settings.grpo, settings.model
    if args.output_dir in (None, "trainer_output"):
        args.output_dir = str(hook.run.path)
    args.model_init_kwargs = {
        "revision": options.model_revision,
        "attn_implementation": options.attn_implementation,
        "dtype": options.dtype or "float32",
        **(args.model_init_kwargs or {}),
    }
    try:
        tokenizer = AutoTokenizer.from_pretrained(model, revision=options.model_revision, padding_side="left")
        trainer = GRPOTrainer(
            model=model,
            args=args,
            processing_class=tokenizer,
            train_dataset=_tasks(settings.selfplay.rounds, args.num_generations),
            reward_funcs=[designer, agent],
            rollout_func=hook.rollout,
            callbacks=[hook],
            peft_config=get_peft_config(options),
            quantization_config=get_quantization_config(options),
        )
    except OSError as problem:
        raise UsageError(f"The model {model} cannot be loaded: {str(problem).splitlines()[0]}") from problem
    trainer.remove_callback(PrinterCallback)
    base = trainer.accelerator.unwrap_model(trainer.model)
    base = base.get_base_model() if hasattr(base, "get_base_model") else base
    _freeze_lower(base, settings.selfplay.upper_layers)
    hook.gradients = RoleGradients(base.base_model, hook.role)
    skip_padding(base.base_model)
    return trainer


def _freeze_lower(model: Any, upper: int) -> None:
    """Leave gradients to the upper layers; the backward pass ends below them. Embeddings and head are frozen."""
    if not upper:
        return
    model.requires_grad_(False)
    for layer in model.base_model.layers[-upper:]:
        layer.requires_grad_(True)


def _tasks(rounds: int, group: int) -> Dataset:
    """One row for each block, in the batch's order. As long as the run: TRL would begin it anew."""
    blocks = [("designer", 0), *(("agent", slot) for slot in range(group))]
    return Dataset.from_list(
        [
            {"prompt": json.dumps({"round": number, "role": role, "slot": slot})}
            for number in range(rounds)
            for role, slot in blocks
        ]
    )


@contextmanager
def sampling(trainer: GRPOTrainer, seed: int, number: int) -> Iterator[Policy]:
    """Give the trainer's weights as a policy for one round. Its draws depend on seed and round alone."""
    draws = torch.Generator(trainer.accelerator.device)
    draws.manual_seed(random.Random(f"{seed}/{number}/draws").getrandbits(63))
    with (
        unwrap_model_for_generation(trainer.model_wrapped, trainer.accelerator) as model,
        torch.no_grad(),
        trainer.accelerator.autocast(),
    ):
        training = model.training
        model.eval()
        try:
            yield Policy(model, trainer.processing_class, trainer.temperature, draws)
        finally:
            model.train(training)


def batch(played: Round) -> dict[str, Any]:
    """Return a round's rows in the form of TRL's rollout function. Extra keys reach the reward functions."""
    rows = played.rows
    return {
        "prompt_ids": [list(row.prompt_ids) for row in rows],
        "completion_ids": [list(row.completion_ids) for row in rows],
        "env_mask": [list(row.mask) for row in rows],
        "logprobs": None,
        "role": [row.role for row in rows],
        "earned": [row.reward for row in rows],
    }


def designer(role: Sequence[str], earned: Sequence[float | None], **_: Any) -> list[float | None]:
    """The designer's rewards; the other role's rows get None, so that TRL's logged mean is this role's."""
    return [reward if whose == "designer" else None for whose, reward in zip(role, earned, strict=True)]


def agent(role: Sequence[str], earned: Sequence[float | None], **_: Any) -> list[float | None]:
    """The agent's rewards."""
    return [reward if whose == "agent" else None for whose, reward in zip(role, earned, strict=True)]


class _Hook(TrainerCallback):  # type: ignore[misc]  # transformers has no types here
    """The rollout function, and what happens around it."""

    gradients: RoleGradients

    def __init__(self, selfplay: SelfPlay, run: RunFolder, display: Display) -> None:
        self.selfplay, self.run, self._display = selfplay, run, display
        self.entries: list[dict[str, Any]] = []
        self._clock = Clock()
        self._entry: dict[str, Any] = {}
        self._designer_prompt: list[int] = []

    def rollout(self, prompts: list[str], trainer: GRPOTrainer) -> dict[str, Any]:
        """TRL's hook: one row for each prompt, in order."""
        tasks = [json.loads(prompt) for prompt in prompts]
        group = self.selfplay.group
        whole = [0] * group + [slot for slot in range(group) for _ in range(group)]
        assert [task["slot"] for task in tasks] == whole, "a batch must be one whole round"
        number = tasks[0]["round"]
        self._clock = Clock(self._display.phase)
        with sampling(trainer, self.selfplay.seed, number) as policy:
            played = self.selfplay.round(policy, number, self._clock)
            self._keep(played, policy)
        self._clock.start("train")
        return batch(played)

    def role(self, ids: Sequence[int]) -> str:
        """Whose row it is: the designer's rows begin with its prompt."""
        return "designer" if list(ids[: len(self._designer_prompt)]) == self._designer_prompt else "agent"

    def _keep(self, played: Round, policy: Policy) -> None:
        self._designer_prompt = list(played.rows[0].prompt_ids)
        self._entry = round_entry(played, self.selfplay.group)
        for slot, design in enumerate(played.designs):
            self.run.append("designs.jsonl", design_entry(design, played.number, slot))
        for block in played.blocks:
            for episode in (block.plain[0], block.hinted[0]):
                self.run.append("episodes.jsonl", episode_entry(episode, policy, played.number))

    def on_substep_end(self, args: Any, *_: Any, **__: Any) -> None:
        """After every micro-batch but a step's last."""
        self._display.advance(1 / (args.gradient_accumulation_steps * args.num_iterations))

    def on_log(self, args: Any, state: Any, _: Any, logs: dict[str, Any], **__: Any) -> None:
        """After the last step on a batch: what training knows joins the round's record."""
        if "grad_norm" not in logs or state.global_step % args.num_iterations:
            return
        self._clock.stop("train")
        learned = {key: logs.get(key) for key in ("loss", "grad_norm", "entropy", "learning_rate")}
        self._entry |= {**learned, "gradient": self.gradients.take(), "seconds": self._clock.seconds}
        self.run.append("rounds.jsonl", self._entry)
        self.entries.append(self._entry)
        self._display.round(self._entry)
