"""Settings of a run: the trainer's own, TRL's, and the model's, from one command line."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import torch
from transformers.integrations import get_available_reporting_integrations
from trl import GRPOConfig, ModelConfig, TrlParser

from spade_envs.errors import UsageError
from spade_train.bounds import check_settings
from spade_train.checks import check_effects, check_preset, check_values
from spade_train.config import SelfPlayConfig
from spade_train.fixed import check_fixed, micro_batches
from spade_train.flags import Words
from spade_train.rewards.advantages import Advantages, RoleSettings, Scale, advantages
from spade_train.rewards.paying import reward_blocks
from spade_train.rounds import Row
from spade_train.trl_plugin.vllm import check_vllm

FORMER = {"activation_checkpointing": "gradient_checkpointing"}
"""Settings by their names in transformers before 5.24, below which vLLM holds it."""


@dataclass(frozen=True)
class Settings:
    """All settings of a run.

    Attributes:
        scale_rewards: TRL's setting of this name. TRL itself is told "none": advantages come to it ready.
    """

    selfplay: SelfPlayConfig
    grpo: GRPOConfig
    model: ModelConfig
    scale_rewards: Scale = "group"

    def advantages(self, rows: Sequence[Row]) -> Advantages:
        """Return each row's advantage, which GRPO uses as it is."""
        blocks = reward_blocks(rows, self.grpo.num_generations)
        return advantages(blocks, {"designer": self.designer, "agent": self.agent})

    @property
    def agent(self) -> RoleSettings:
        """How the agent's advantages are made."""
        return RoleSettings(self.scale_rewards)

    @property
    def designer(self) -> RoleSettings:
        """How the designer's advantages are made."""
        own = self.selfplay
        rate = 1.0 if own.has_two_weights else own.designer_scale  # there it scales the learning rate itself
        return RoleSettings(own.designer_scale_rewards or self.scale_rewards, rate)


class _Parser(TrlParser):  # type: ignore[misc]  # trl has no types
    def error(self, message: str) -> None:
        raise UsageError(f"{message}. See spade-train --help.")


def parser() -> TrlParser:
    """Return the parser of every flag."""
    return _Parser((SelfPlayConfig, GRPOConfig, ModelConfig), prog="spade-train", allow_abbrev=False)


def known_settings() -> set[str]:
    """Return the name of every flag, without dashes."""
    return {action.dest for action in parser()._actions if action.dest != "help"} | FORMER.keys()


def settings(said: Words) -> Settings:
    """Build the settings from what the command line says.

    Raises:
        UsageError: a setting that self-play fixes was set, or settings contradict each other.
    """
    check_fixed(name for _, name in said.names())
    full = parser()
    said = _as_known(said, {action.dest for action in full._actions})
    check_preset(said, full._actions)
    full.set_defaults_with_config(**said.preset)
    plain = full.parse_args(list(said.flags))
    check_values(vars(plain))
    check_effects(said, vars(plain))
    own = SelfPlayConfig(**{one.name: getattr(plain, one.name) for one in fields(SelfPlayConfig)})
    check_settings(own, plain.max_completion_length)
    full.set_defaults_with_config(**_derived(own, plain))
    try:
        selfplay, grpo, model = full.parse_args_into_dataclasses(list(said.flags))
    except (ValueError, ImportError) as problem:
        raise UsageError(str(problem)) from problem
    _check_weights(selfplay, grpo, model)
    check_vllm(selfplay, grpo, said)
    _check_reports(grpo.report_to)
    return Settings(selfplay, grpo, model, grpo.scale_rewards)


def _as_known(said: Words, known: Container[str]) -> Words:
    """Return the words with each setting under the name that the transformers at hand knows it by."""
    former = {new: old for new, old in FORMER.items() if new not in known}
    preset = {former.get(key, key): value for key, value in said.preset.items()}
    return replace(said, preset=preset, flags=tuple(_renamed(word, former) for word in said.flags))


def _renamed(word: str, former: Mapping[str, str]) -> str:
    """Return a flag by its former name, with its ``no_`` and what is said behind a ``=``."""
    name, sign, value = word.removeprefix("--").partition("=")
    plain = name.replace("-", "_")
    old = former.get(plain.removeprefix("no_"))
    if old is None or not word.startswith("--"):
        return word
    return f"--{'no_' if plain.startswith('no_') else ''}{old}{sign}{value}"


def _check_weights(own: SelfPlayConfig, grpo: GRPOConfig, model: ModelConfig) -> None:
    """Raise :class:`UsageError` where the roles cannot have weights of their own in this way."""
    if own.role_adapters and not model.use_peft:
        raise UsageError("role_adapters wants adapters: add use_peft.")
    if own.role_adapters and grpo.gradient_checkpointing:
        raise UsageError(
            "role_adapters and activation_checkpointing contradict each other: recomputing a layer "
            "would take the adapter of another row. Set activation_checkpointing: false."
        )
    if own.trains_two_models and model.use_peft:
        raise UsageError(
            "designer_model and use_peft contradict each other: adapters would be the agent's alone. Train both "
            "models' own weights (leave use_peft out), both roles' adapters (role_adapters in designer_model's "
            "place), or the agent alone (schedule designer_frozen)."
        )
    if own.trains_two_models and grpo.beta:
        raise UsageError(
            f"beta is {grpo.beta}, and designer_model learns: TRL holds a reference of the agent's model alone. "
            "Set beta: 0."
        )


def _check_reports(names: Sequence[str]) -> None:
    """Raise :class:`UsageError` for the first tracker that transformers does not know or cannot import."""
    there = get_available_reporting_integrations()
    for name in names:
        if name not in there:
            found = ", ".join(there) or "none"
            raise UsageError(f"report_to {name}: its package is not installed here (found: {found}).")


def _derived(own: SelfPlayConfig, plain: Any) -> dict[str, Any]:
    """What TRL must be told so that one of its batches is one round of each process."""
    bf16 = plain.bf16 if plain.bf16 is not None else _fast_bf16(plain.use_cpu) and not plain.fp16
    rows = own.plan(plain.num_generations).rows
    return {
        "gradient_accumulation_steps": micro_batches(
            plain.num_generations, rows, plain.per_device_train_batch_size
        ),
        "max_steps": plain.rounds * plain.num_iterations,
        "save_strategy": "steps" if plain.save_rounds else "no",
        "save_steps": max(1, plain.save_rounds) * plain.num_iterations,
        "save_total_limit": plain.save_total_limit or 2,
        "shuffle_dataset": False,
        "logging_steps": 1,
        "disable_tqdm": True,
        "bf16": bf16,
    }


def _fast_bf16(use_cpu: bool) -> bool:
    """Whether this machine computes in bf16. A CPU that emulates it is ten times slower than in fp32."""
    if not use_cpu:  # transformers takes bf16 for a GPU's then, and refuses a machine without one
        return torch.cuda.is_available() and bool(torch.cuda.is_bf16_supported())
    return any(able for name, able in torch.cpu.get_capabilities().items() if name.endswith("bf16"))
