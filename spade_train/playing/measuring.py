"""Playing the environments of a round: blocks without and with the hint, then what is measured besides.

More seeds where regret is vague; plays with the hint alone where the hint solves.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from spade_train.playing.decoding import Policy
from spade_train.playing.play import Limits, Make, Task, play
from spade_train.playing.prompts import TRAINING_SEEDS
from spade_train.rewards.regret import more_seeds
from spade_train.rounds import Block, Played

HALF = 0.5
"""Rate of success with the hint from which on it is asked whether the hint alone would do."""


@dataclass(frozen=True)
class Place:
    """One environment, the seeds of its blocks, its level, and why it was chosen."""

    env_id: str
    seeds: tuple[int, ...]
    level: int = 1
    why: str = ""


@dataclass(frozen=True)
class Player:
    """Plays with one policy.

    Attributes:
        group: plays of a block, each way.
        make: opens an environment's text face.
        limits: tokens.
    """

    policy: Policy
    group: int
    make: Make
    limits: Limits

    def blocks(self, places: Sequence[Place]) -> list[Played]:
        """Play G episodes each way from every seed, all side by side."""
        wanted = [Task(one.env_id, seed, level=one.level) for one in places for seed in one.seeds]
        blocks = iter(self._play(wanted, self.group))
        return [
            Played(one.env_id, tuple(next(blocks) for _ in one.seeds), level=one.level, why=one.why)
            for one in places
        ]

    def narrow(
        self, played: Sequence[Played], half_width: float, plays: int, rng: random.Random
    ) -> list[Played]:
        """Play those whose regret is vague from new seeds, once each way, until all are clear or plays are spent.

        Args:
            played: all plays, by environment; the same one may stand there twice.
            half_width: of the regret's 95 % interval, from which an environment is clear.
            plays: how many may be spent in all.
        """
        known = list(played)
        while True:
            regrets = {str(place): one.regret for place, one in enumerate(known) if one.regret}
            counts = more_seeds(regrets, half_width, plays=plays, cost=2)
            if not counts:
                return known
            places = [int(name) for name in counts for _ in range(counts[name])]
            wanted = [
                Task(known[place].env_id, rng.randrange(TRAINING_SEEDS), level=known[place].level)
                for place in places
            ]
            for place, block in zip(places, self._play(wanted, 1), strict=True):
                known[place] = replace(known[place], extra=(*known[place].extra, block))
            plays -= 2 * len(wanted)

    def blind(self, played: Sequence[Played], plays: int, rng: random.Random) -> list[Played]:
        """Play what most hinted plays solve as often again, with the hint and another seed's observations.

        Args:
            played: all plays, by environment.
            plays: of each environment that is so played.
        """
        solved = [n for n, one in enumerate(played) if (one.hinted_success or 0.0) > HALF]
        tasks = [
            Task(
                played[n].env_id,
                rng.randrange(TRAINING_SEEDS),
                hinted=True,
                blind=True,
                level=played[n].level,
            )
            for n in solved
            for _ in range(plays)
        ]
        episodes = iter(play(self.policy, tasks, self.make, self.limits) if tasks else ())
        known = list(played)
        for n in solved:
            known[n] = replace(played[n], blind=tuple(next(episodes) for _ in range(plays)))
        return known

    def _play(self, wanted: Sequence[Task], times: int) -> list[Block]:
        tasks = [
            replace(task, hinted=hinted) for task in wanted for hinted in (False, True) for _ in range(times)
        ]
        episodes = play(self.policy, tasks, self.make, self.limits)
        sides = [tuple(episodes[at : at + times]) for at in range(0, len(episodes), times)]
        return [
            Block(task.env_id, task.seed, plain, hinted)
            for task, plain, hinted in zip(wanted, sides[::2], sides[1::2], strict=True)
        ]
