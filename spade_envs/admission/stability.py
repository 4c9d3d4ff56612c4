"""How far what is earned tells of the player, and not of the seed or the level that was drawn: the score *stability*.

A curriculum compares returns of few episodes: with a hint and without, of one level and the next, of a player now
and a player later. Each part of the score lies in [0, 1] and says how little the instance blurs one of these.

**Evenness**: ``1 / (1 + v)``, where ``v`` is the coefficient of variation (standard deviation over mean) of the
expert's steps over the seeds of a level: the dispersion by which Chan et al. (2020, Measuring the Reliability of
Reinforcement Learning Algorithms, arXiv 1912.05663) ask for reliability. Seeds that ask for unequal amounts of work
make returns of a few episodes unequal. It is multiplied by one less the standard deviation of the expert's returns.

**Order**: how surely a level asks for more than the one below it, as Cliff's delta (2A - 1 of Vargha and Delaney's
A: 2000, A Critique and Improvement of the CL Common Language Effect Size Statistics). Of the measures in
:func:`spade_envs.admission.level_gate.work`, and of how often random play loses, the one counts that tells the two
levels apart best. It is left out where there is one level.

**Margin**: one less the share of its limit that the most successful short cut uses up. Near the limit, luck wins
many of the episodes that are taken for skill.

The score is their mean, times the share of replayed episodes that came out alike and the share of episodes without
a fault; for an admitted design both are 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from statistics import fmean, pstdev

from spade_envs.admission.evidence import Evidence, Level
from spade_envs.admission.gates import first_difference
from spade_envs.admission.level_gate import work
from spade_envs.admission.settings import Settings
from spade_envs.admission.short_cut_gate import limit_of, short_cuts


def stability(evidence: Evidence, settings: Settings) -> float:
    """Return how little seeds and levels blur what is earned, from 0 to 1."""
    same = _mean(first_difference(*pair) is None for pair in evidence.pairs)
    whole = _mean(episode.fault is None for episode in evidence.episodes)
    return same * whole * fmean([evenness(evidence), *order(evidence), margin(evidence, settings)])


def evenness(evidence: Evidence) -> float:
    """Return how equal the expert's work and its returns are over the seeds of a level, as the mean over levels."""
    return fmean(_level_evenness(evidence, level) for level in evidence.levels)


def _level_evenness(evidence: Evidence, level: Level) -> float:
    shown = evidence.by("expert", level)
    if not shown:
        return 1.0
    steps, returns = [len(e.actions) for e in shown], [e.total for e in shown]
    return max(0.0, 1 - pstdev(returns)) / (1 + pstdev(steps) / max(1.0, fmean(steps)))


def order(evidence: Evidence) -> Iterator[float]:
    """Yield how surely levels ask for more than the ones below, as the mean; nothing where there is one level."""
    asked = [(*work(evidence, level), _lost(evidence, level)) for level in evidence.levels]
    if len(asked) > 1:
        yield fmean(
            max(0.0, *(cliffs_delta(more, less) for less, more in zip(low, high, strict=True)))
            for low, high in pairwise(asked)
        )


def _lost(evidence: Evidence, level: Level) -> list[int]:
    return [not episode.success for episode in evidence.by("uniform", level)]


def cliffs_delta(values: Sequence[float], base: Sequence[float]) -> float:
    """Return how much more likely a value lies above one of the base than below it, from -1 to 1; 0 for none."""
    signs = [(value > other) - (value < other) for value in values for other in base]
    return fmean(signs) if signs else 0.0


def margin(evidence: Evidence, settings: Settings) -> float:
    """Return how far short cuts stay below what they may win, as the mean over the levels."""
    return fmean(1 - max(_shares(evidence, level, settings), default=0.0) for level in evidence.levels)


def _shares(evidence: Evidence, level: Level, settings: Settings) -> Iterator[float]:
    """Yield the share of its limit that each short cut of a level uses up."""
    for plays in chain.from_iterable(short_cuts(evidence, level).values()):
        yield min(1.0, fmean(episode.success for episode in plays) / limit_of(plays[0].policy, settings))


def _mean(values: Iterable[bool]) -> float:
    listed = list(values)
    return fmean(listed) if listed else 1.0
