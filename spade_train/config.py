"""The trainer's own settings. Everything about optimisation (learning rate, G, temperature, ...) is TRL's.

Each field becomes a flag of ``spade-train`` and a key of its YAML files. Nothing here imports torch or trl,
so that ``spade-train --help`` answers at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from spade_envs.errors import UsageError


def _help(text: str) -> dict[str, str]:
    return {"help": text}


@dataclass
class SelfPlayConfig:
    """What one self-play run does, beside TRL's ``GRPOConfig`` and ``ModelConfig``."""

    rounds: int = field(
        default=3, metadata=_help("Rounds of self-play; each trains on one batch of both roles.")
    )
    runs: str = field(
        default="runs", metadata=_help("Folder of the run folders; --run_name names this one's.")
    )
    designer: Literal["slots", "free"] = field(
        default="slots", metadata=_help("Designs are specifications under a grammar, or whole Python files.")
    )
    designer_reward: Literal["blend", "regret"] = field(
        default="blend",
        metadata=_help("What a design earns: blend of success and regret, or floored regret."),
    )
    format_reward: float = field(
        default=0.1, metadata=_help("What well-formed answers earn at most; success earns more.")
    )
    action_format: Literal["xml", "boxed", "tool_call", "raw"] = field(
        default="xml", metadata=_help("How the agent writes its actions.")
    )
    curriculum: list[str] = field(
        default_factory=list,
        metadata=_help("Ids that fill refused designs' blocks (default: every seed environment)."),
    )
    turn_tokens: int = field(default=16, metadata=_help("Tokens that the agent may sample in one turn."))
    prompt_tokens: int = field(
        default=1024, metadata=_help("Longest prompt that is played; a longer one leaves its row out.")
    )

    upper_layers: int = field(
        default=0, metadata=_help("Train this many layers below the head and freeze the rest; 0 trains all.")
    )

    def check(self, completion_tokens: int) -> None:
        """Raise :class:`UsageError` for the first setting that is out of range.

        Args:
            completion_tokens: TRL's ``max_completion_length``: the most that may follow a prompt.
        """
        for name, least in (("rounds", 1), ("turn_tokens", 1), ("prompt_tokens", 16), ("upper_layers", 0)):
            if getattr(self, name) < least:
                raise UsageError(f"{name} is {getattr(self, name)}; it must be at least {least}.")
        if not 0 <= self.format_reward < 1:
            raise UsageError(
                f"format_reward is {self.format_reward}; it must lie in [0, 1), below what success earns."
            )
        if self.turn_tokens > completion_tokens:
            raise UsageError(
                f"turn_tokens ({self.turn_tokens}) exceeds max_completion_length ({completion_tokens}), "
                "which bounds a whole episode."
            )


_FIXED = (
    (
        "follows from --num_generations and --per_device_train_batch_size: a batch is one whole round",
        ("gradient_accumulation_steps", "steps_per_generation", "generation_batch_size"),
    ),
    ("follows from --rounds", ("max_steps", "num_train_epochs")),
    ("is one round", ("logging_steps", "logging_strategy")),
    (
        "has nothing to act on: there is no evaluation set",
        ("eval_strategy", "do_eval", "num_generations_eval"),
    ),
    ("would break the order of the blocks, and with it every baseline", ("shuffle_dataset",)),
    (
        "does not reach the trainer's own decoder, which samples both roles",
        ("use_vllm", "use_transformers_continuous_batching", "cache_implementation", "generation_kwargs"),
    ),
    (
        "is not known to the trainer's own decoder; it samples with --temperature alone",
        ("top_p", "top_k", "min_p", "repetition_penalty"),
    ),
)


def check_fixed(names: Iterable[str]) -> None:
    """Raise :class:`UsageError` for the first setting of TRL's that self-play decides, and say why it does."""
    reasons = {name: reason for reason, fixed in _FIXED for name in fixed}
    for name in names:
        if name in reasons:
            raise UsageError(f"{name} {reasons[name]}. Leave it out.")


def micro_batches(group: int, size: int) -> int:
    """Return how many micro-batches of ``size`` rows a round has: one designer and ``group`` agent blocks.

    Raises:
        UsageError: the group is too small for a baseline, or the size does not divide the round.
    """
    if group < 2:
        raise UsageError(f"num_generations is {group}; a block needs at least 2 rows to have a baseline.")
    rows = group + group * group
    if size < 1 or rows % size:
        fits = ", ".join(str(n) for n in range(1, rows + 1) if rows % n == 0)
        raise UsageError(
            f"per_device_train_batch_size ({size}) does not divide a round's {rows} rows "
            f"(G + G*G with num_generations G = {group}). Choose one of {fits}."
        )
    return rows // size
