"""The trainer's own settings. Everything about optimisation (learning rate, G, temperature, ...) is TRL's.

Each field becomes a flag of ``spade-train`` and a key of its YAML files. Nothing here imports torch or trl,
so that ``spade-train --help`` answers at once.
"""

from __future__ import annotations

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

    def check(self) -> None:
        """Raise :class:`UsageError` for the first setting that is out of range."""
        for name, least in (("rounds", 1), ("turn_tokens", 1), ("prompt_tokens", 16)):
            if getattr(self, name) < least:
                raise UsageError(f"{name} is {getattr(self, name)}; it must be at least {least}.")
        if not 0 <= self.format_reward < 1:
            raise UsageError(
                f"format_reward is {self.format_reward}; it must lie in [0, 1), below what success earns."
            )
