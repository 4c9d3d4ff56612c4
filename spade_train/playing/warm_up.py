"""A few supervised steps on experts' episodes, for a model too small to keep a format by itself.

An expert's episode is written by the code that writes the agent's: the same prompt, the same tokens between the
turns, and the expert's text in the place of what would have been sampled. Only that is learned. Nothing is hinted,
and seeds are training's.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch.nn.functional import cross_entropy

from spade_train.playing.decoding import Policy
from spade_train.playing.play import Episode, Limits, Task, play_expert
from spade_train.playing.prompts import TRAINING_SEEDS, TextEnvironment


@dataclass(frozen=True)
class WarmUp:
    """How much is learned.

    Attributes:
        steps: optimiser steps; 0 leaves the model as it is.
        rows: episodes of one step.
        learning_rate: of AdamW, without decay.
        seed: decides which seeds are played, in which order.
    """

    steps: int = 10
    rows: int = 8
    learning_rate: float = 1e-5
    seed: int = 0

    def tasks(self, env_ids: Sequence[str]) -> list[Task]:
        """Return what is played: every environment as often as the others, seeds below the held-out ones."""
        draw = random.Random(f"{self.seed}/warm_up")
        count = self.steps * self.rows
        return [Task(env_ids[n % len(env_ids)], draw.randrange(TRAINING_SEEDS)) for n in range(count)]


def lessons(
    policy: Policy,
    env_ids: Sequence[str],
    make: Callable[[str], TextEnvironment],
    limits: Limits,
    plan: WarmUp,
) -> list[Episode]:
    """Return the episodes to learn from; those that an expert does not win within the limits are left out."""
    played = play_expert(policy, plan.tasks(env_ids), make, limits)
    return [one for one in played if one.counts and one.success]


def warm_up(model: torch.nn.Module, episodes: Sequence[Episode], plan: WarmUp) -> list[float]:
    """Train the model's unfrozen weights on the episodes, in their order; return each step's loss per token.

    Where there are fewer than the plan's steps times rows, they begin anew.
    """
    if not episodes:
        return []
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(weights, lr=plan.learning_rate, weight_decay=0.0)
    was_training, losses = model.training, []
    model.train()
    for step in range(plan.steps):
        rows = [episodes[n % len(episodes)] for n in range(step * plan.rows, (step + 1) * plan.rows)]
        loss = sum(_backward(model, row, sum(sum(one.mask) for one in rows)) for row in rows)
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss)
    model.train(was_training)
    return losses


def _backward(model: torch.nn.Module, episode: Episode, tokens: int) -> float:
    """Add one episode's gradient: row by row, so no memory is spent on padding. Return its part of the loss."""
    device = next(model.parameters()).device
    completion = torch.tensor(episode.completion_ids, device=device)
    ids = torch.tensor([[*episode.prompt_ids, *episode.completion_ids]], device=device)
    logits = model(input_ids=ids, logits_to_keep=len(completion) + 1, use_cache=False).logits[0, :-1]
    learned = torch.tensor(episode.mask, device=device).bool()
    loss = cross_entropy(logits[learned].float(), completion[learned], reduction="sum") / tokens
    torch.autograd.backward(loss)
    return float(loss.detach())
