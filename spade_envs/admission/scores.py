"""How much an admitted environment is worth: difficulty, diversity, stability, and who enters the active pool.

Pure functions over evidence. A score keeps nothing out of the registry; it decides what is trained on first.

**Difficulty** of a level is ``0.7 * (1 - r / q) + 0.3 * n / max(limit, 10)``, each part cut to [0, 1]; that of an
environment is the mean over its levels. ``r`` is the share of episodes that random play wins and ``q`` the share
that a short cut may win (a quarter): no admitted design lies far above it, so that share is the whole scale. ``n``
is the mean number of steps that the expert needs and ``limit`` is ``max_episode_steps``: what even the expert needs
leaves no room for errors. A limit below ten says that the task is short, not that it leaves no room. Chance weighs
more, since it says how much has to be known; the length only says how little may go wrong.

**Diversity** is the distance to the nearest environment, as the novelty gate saw it; 1 where there is no other.

**Stability** says how little seeds and levels blur what is earned; see :mod:`spade_envs.admission.stability`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from spade_envs.admission.evidence import Evidence, Level
from spade_envs.admission.rates import wilson
from spade_envs.admission.settings import Frontier, Settings
from spade_envs.admission.sheet import GateResult
from spade_envs.admission.stability import stability

_CHANCE, _LENGTH = 0.7, 0.3
_SHORT = 10  # steps


@dataclass(frozen=True, slots=True)
class Scores:
    """What an environment is worth, each from 0 to 1; the more the better."""

    difficulty: float
    diversity: float
    stability: float
    total: float

    def as_dict(self) -> dict[str, float]:
        """Return the scores as JSON-ready data."""
        return {name: round(value, 4) for name, value in asdict(self).items()}

    def text(self) -> str:
        """Return the scores as one line."""
        parts = f"difficulty {self.difficulty:.2f}, diversity {self.diversity:.2f}, stability {self.stability:.2f}"
        return f"score {self.total:.2f} ({parts})"


@dataclass(frozen=True, slots=True)
class Probe:
    """A short play by one policy, which the active pool asks for.

    Attributes:
        policy: who played, for example ``"random play"`` or a model's name.
        won: episodes that reached the goal.
        played: episodes.
    """

    policy: str
    won: int
    played: int


@dataclass(frozen=True, slots=True)
class Entry:
    """Whether an environment enters the active pool, and why not.

    Attributes:
        enters: whether it does.
        reasons: what keeps it out; empty where it enters.
    """

    enters: bool
    reasons: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the decision as JSON-ready data."""
        return {"enters": self.enters, "reasons": list(self.reasons)}

    def text(self) -> str:
        """Return the decision as one line."""
        return (
            "enters the active pool"
            if self.enters
            else f"stays out of the active pool: {'; '.join(self.reasons)}"
        )


def scores(evidence: Evidence, distance: float | None, settings: Settings) -> Scores:
    """Score an admitted environment.

    Args:
        evidence: all that was played.
        distance: to the nearest other environment, from 0 to 1; None where there is none.
        settings: the weights of the sum, and the share of episodes that a short cut may win.
    """
    hard = difficulty(evidence, settings.short_cut_limit)
    parts = (hard, diversity(distance), stability(evidence, settings))
    return Scores(*parts, total=settings.weights.mean(parts))


def difficulty(evidence: Evidence, quota: float = 0.25) -> float:
    """Return how hard the environment is for chance and how little room the expert has, over all levels."""
    return fmean(_level_difficulty(evidence, level, quota) for level in evidence.levels)


def _level_difficulty(evidence: Evidence, level: Level, quota: float) -> float:
    chance = _mean(episode.success for episode in evidence.by("uniform", level))
    steps = _mean(len(episode.actions) for episode in evidence.by("expert", level) if episode.success)
    room = max(_SHORT, evidence.header.max_episode_steps)
    return _CHANCE * _cut(1 - chance / quota) + _LENGTH * _cut(steps / room)


def diversity(distance: float | None) -> float:
    """Return the distance to the nearest environment, or 1 where there is no other."""
    return 1.0 if distance is None else _cut(distance)


def nearest(results: Sequence[GateResult]) -> float | None:
    """Return the distance to the nearest other environment, where the novelty gate noted one."""
    for result in results:
        seen = result.saw.get("distance") if result.name == "novelty" else None
        if isinstance(seen, (int, float)) and math.isfinite(seen):
            return float(seen)
    return None


def random_probe(evidence: Evidence) -> Probe:
    """Return the random play of the easiest level as a probe; it was played for the short cuts already."""
    played = evidence.by("uniform", evidence.levels[0])
    return Probe("random play", sum(episode.success for episode in played), len(played))


def probe(policy: str, play: Callable[[int], bool], episodes: int = 8, first_seed: int = 0) -> Probe:
    """Let a policy play a few episodes.

    Args:
        policy: what to call it.
        play: plays the episode of a seed and says whether it reached the goal.
        episodes: how many.
        first_seed: where the seeds begin.
    """
    seeds = range(first_seed, first_seed + episodes)
    return Probe(policy, sum(bool(play(seed)) for seed in seeds), episodes)


def entry(score: float, probe: Probe, frontier: Frontier) -> Entry:
    """Decide whether an environment enters the active pool: its score suffices, and the probe is on the frontier.

    The probe's rate is judged with its uncertainty: an environment is too easy when the lower end of the 95 %
    Wilson interval lies above the ceiling, too hard when the upper end lies below the floor.
    """
    low, high = wilson(probe.won, probe.played)
    share = f"{probe.policy} won {probe.won} of {probe.played} episodes"
    reasons = {
        f"its score {score:.2f} is below {frontier.least_score:.2f}": score < frontier.least_score,
        f"only {probe.played} episodes were played, of {frontier.least_plays} needed": probe.played
        < frontier.least_plays,
        f"too easy: {share}": low > frontier.ceiling,
        f"too hard as yet: {share}": high < frontier.floor,
    }
    kept_out = tuple(reason for reason, holds in reasons.items() if holds)
    return Entry(not kept_out, kept_out)


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return fmean(listed) if listed else 0.0


def _cut(value: float) -> float:
    return min(1.0, max(0.0, value))
