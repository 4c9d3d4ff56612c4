"""A suite's plays by one model. Every model gets the same items in the same order, and the same draws."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch

from spade_train.evaluation.suite import Item, Suite, Try
from spade_train.playing.decoding import Policy
from spade_train.playing.play import Episode, Limits, Task, play


@dataclass(frozen=True)
class Plan:
    """How a suite is played.

    Attributes:
        plays: of each item.
        seed: of all draws.
        limits: tokens, at least; a suite may want more.
        together: episodes that are played side by side.
    """

    plays: int
    limits: Limits
    seed: int = 0
    together: int = 32

    def limits_of(self, suite: Suite) -> Limits:
        """Return the tokens of a suite's episodes."""
        return replace(
            self.limits,
            turn=max(self.limits.turn, suite.turn),
            completion=max(self.limits.completion, suite.completion),
            examples=suite.examples,
        )


def evaluate(
    policy: Policy,
    suite: Suite,
    plan: Plan,
    progress: Callable[[int], object] = lambda _: None,
    items: Sequence[Item] | None = None,
) -> dict[Item, list[Try]]:
    """Play every item of a suite, or these, and return what came of it.

    Args:
        policy: who plays.
        suite: what.
        plan: how often, from which draws.
        progress: is told how many more episodes are done.
        items: some of the suite's.
    """
    wanted = [item for item in (suite.items if items is None else items) for _ in range(plan.plays)]
    player = replace(policy, generator=_draws(policy, f"{plan.seed}/{suite.name}"))
    tries: dict[Item, list[Try]] = {}
    for at in range(0, len(wanted), plan.together):
        part = wanted[at : at + plan.together]
        tasks = [Task(one.env_id, one.seed, level=one.level) for one in part]
        for item, episode in zip(part, play(player, tasks, suite.make, plan.limits_of(suite)), strict=True):
            tries.setdefault(item, []).append(_try(episode))
        progress(len(part))
    return tries


def _draws(policy: Policy, words: str) -> torch.Generator:
    source = policy.generator
    return torch.Generator(source.device if source else "cpu").manual_seed(
        random.Random(words).getrandbits(63)
    )


def _try(episode: Episode) -> Try:
    return Try(
        episode.success,
        episode.return_,
        episode.counts,
        episode.turns,
        sum(episode.mask),
        episode.end,
    )
