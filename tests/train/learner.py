"""A simulated learner: its skill grows where plays of a block differ, as GRPO's gradient does, and fades unused."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from spade_train.curriculum import Candidate, Choice, Learnt, Result, Shares, choose, uniform
from spade_train.rewards.uncertainty import Tally

PLAYS = 8
"""Of a block."""

NEVER = ", never"
"""Ends the name of an environment that cannot be won."""


@dataclass(frozen=True)
class Task:
    """One environment: how hard each of its levels is, on the scale of the learner's ability."""

    env_id: str
    skill: str
    levels: tuple[float, ...]


@dataclass
class Learner:
    """Wins with probability sigmoid(ability in the skill - difficulty)."""

    rng: random.Random
    rate: float = 0.1
    fading: float = 0.0003
    ability: dict[str, float] = field(default_factory=dict)

    def chance(self, task: Task, level: int) -> float:
        return 1 / (1 + math.exp(task.levels[level - 1] - self.ability.get(task.skill, 0.0)))

    def play(self, task: Task, level: int) -> Tally:
        """Play a block and learn from it: nothing where all its plays are alike."""
        chance = self.chance(task, level)
        wins = sum(self.rng.random() < chance for _ in range(PLAYS))
        gained = self.rate * 4 * wins * (PLAYS - wins) / PLAYS**2
        self.ability = {skill: one * (1 - self.fading) for skill, one in self.ability.items()}
        self.ability[task.skill] = self.ability.get(task.skill, 0.0) + gained
        return Tally(wins, PLAYS)


def world() -> list[Task]:
    """Return four skills; of each, environments from trivial to hard, some with levels, some that nobody wins."""
    tasks = []
    for n in range(4):
        skill = f"skill {n}"
        tasks += [Task(f"{skill}/{k}", skill, (k - 5.0,)) for k in range(8)]
        tasks += [Task(f"{skill}/levels {k}", skill, (k - 1.0, float(k), k + 1.0)) for k in range(2)]
        tasks += [Task(f"{skill}/{k}{NEVER}", skill, (40.0,)) for k in range(3)]
    return tasks


Draw = Callable[[Learnt, int, random.Random], list[Choice]]


def by_worth(tasks: Sequence[Task], blocks: int, shares: Shares) -> Draw:
    """Return the curriculum."""
    candidates = [Candidate(one.env_id, (one.skill,), fixed=one.env_id.endswith("/5")) for one in tasks]
    return lambda learnt, number, rng: choose(candidates, learnt, blocks, number, rng, shares)


def by_chance(tasks: Sequence[Task], blocks: int) -> Draw:
    """Return the baseline, which climbs the same ladder."""
    ids = [one.env_id for one in tasks]
    return lambda learnt, _, rng: [Choice(one, learnt.of(one).level, "") for one in uniform(ids, blocks, rng)]


@dataclass(frozen=True)
class Lesson:
    """One round: what was drawn, and how often each block was won."""

    choices: tuple[Choice, ...]
    won: tuple[Tally, ...]

    @property
    def by_worth(self) -> list[Tally]:
        """Blocks that neither of the shares has taken."""
        return [won for one, won in zip(self.choices, self.won, strict=True) if "(share" not in one.why]


def learn(
    tasks: Sequence[Task], draw: Draw, seed: int, rounds: int, shares: Shares
) -> tuple[list[Lesson], int]:
    """Return every round, and after how many of them everything in reach was mastered."""
    known, rng = {one.env_id: one for one in tasks}, random.Random(f"{seed}/draw")
    learner, learnt, lessons = Learner(random.Random(f"{seed}/play")), Learnt(), []
    mastered = rounds
    for number in range(rounds):
        choices = draw(learnt, number, rng)
        won = [learner.play(known[one.env_id], one.level) for one in choices]
        results = [
            Result(one.env_id, one.level, len(known[one.env_id].levels), tally)
            for one, tally in zip(choices, won, strict=True)
        ]
        learnt = learnt.after(number, results, shares.ladder)
        lessons.append(Lesson(tuple(choices), tuple(won)))
        if mastered == rounds and is_mastered(learner, tasks):
            mastered = number + 1
    return lessons, mastered


def is_mastered(learner: Learner, tasks: Sequence[Task], above: float = 0.8) -> bool:
    """Whether everything in reach is won at its hardest level."""
    within = [one for one in tasks if not one.env_id.endswith(NEVER)]
    return all(learner.chance(one, len(one.levels)) > above for one in within)
