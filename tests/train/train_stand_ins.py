"""Scripted stand-ins for a model and an environment: what is said and answered is known beforehand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from spade_train.playing.decoding import Decoder, Policy, Sampled


def tiny_model(tokenizer: Any, hidden_size: int = 32, spread: float = 0.3) -> LlamaForCausalLM:
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=hidden_size,
        intermediate_size=2 * hidden_size,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=4096,
        tie_word_embeddings=True,
        initializer_range=spread,  # unequal logits: else every token is as likely as every other
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=tokenizer.bos_token_id,
    )
    return LlamaForCausalLM(config).eval()


class ScriptedDecoder(Decoder):
    """Says what the script says; knows what it was given to read. Rows with even numbers speak first."""

    def __init__(self, say: Callable[[int, int], list[int]], prompts: Sequence[Sequence[int]]) -> None:
        self.say = say
        self.turns = dict.fromkeys(range(len(prompts)), 0)
        self.read = [list(prompt) for prompt in prompts]

    @property
    def running(self) -> int:
        return len(self.turns)

    def speak(self, limit: int, constraint: Any = None) -> dict[int, Sampled]:
        said = {}
        for row in [row for row in self.turns if row % 2 == 0] or self.turns:
            new = self.say(row, self.turns[row])[:limit]
            self.turns[row] += 1
            self.read[row] += new
            said[row] = Sampled(new, [1] * len(new))
        return said

    def hear(self, number: int, tokens: Sequence[int]) -> None:
        self.read[number] += tokens

    def drop(self, number: int) -> None:
        del self.turns[number]


@dataclass(frozen=True)
class ScriptedPolicy(Policy):
    """A policy that reads its replies from ``script[row][turn]``."""

    script: tuple[tuple[str, ...], ...] = ()

    def decoder(self, prompts: Sequence[Sequence[int]]) -> ScriptedDecoder:
        decoder = ScriptedDecoder(lambda row, turn: self.ids(self.script[row][turn]), prompts)
        object.__setattr__(self, "last", decoder)
        return decoder


class Count:
    """A text environment: say the numbers from the seed's last digit up; three right ones win."""

    rules = "Say the next number. Reply as <answer>...</answer>."
    tools: list[dict[str, Any]] = []
    fault_at: int | None = None
    turn_limit = 5

    def reset(self, *, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        self.number, self.right, self.turns = (seed or 0) % 10, 0, 0
        return f"It is {self.number}.", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        self.turns += 1
        if self.turns == self.fault_at:
            return "", 0.0, False, True, {"fault": "timeout", "worker_restarted": True}
        late = self.turns == 5
        if not action.startswith("<answer>"):
            return "Reply as <answer>...</answer>.", 0.0, False, late, {"invalid_action": True}
        self.right += action == self.expert_text()
        self.number += 1
        won = self.right == 3
        return f"It is {self.number}.", float(won), won, late and not won, {"is_success": won}

    def hint(self) -> str:
        return f"Say {self.number + 1}."

    def expert_text(self) -> str:
        return f"<answer>{self.number + 1}</answer>"

    def close(self) -> None:
        self.closed = True


class Wide(Count):
    """The same, from the seed itself up: no two seeds look alike."""

    def reset(self, *, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        self.number = seed or 0
        return f"It is {self.number}.", {}
