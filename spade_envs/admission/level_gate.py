"""The gate on difficulty: no higher level is easier, and one that is not harder at all is noted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations, pairwise

from spade_envs.admission.evidence import Episode, Evidence, Level
from spade_envs.admission.rates import p_differ, p_more, p_shorter
from spade_envs.admission.settings import Settings
from spade_envs.admission.sheet import Sheet, label, rate
from spade_envs.contract.plain import plain

NEARLY_NOUGHT = 0.04  # share of random play that wins by luck alone: then the expert's steps decide
SHOWN_SEEDS, SHOWN_NUMBERS = 20, 16  # of what resets show, to tell levels apart
ALIKE_P = 0.01  # two levels differ in what is measured below this probability


def difficulty(evidence: Evidence, settings: Settings, sheet: Sheet) -> None:
    """No higher level is easier: by random success or, where that is nought, by the expert's steps."""
    for level in evidence.levels:
        random, steps = evidence.by("uniform", level), _steps(evidence, level)
        sheet.saw[label("random play", level)] = rate(sum(e.success for e in random), len(random))
        sheet.saw[label("expert's mean steps", level)] = round(sum(steps) / max(1, len(steps)), 2)
    for low, high in combinations(evidence.levels, 2):
        p, by = _easier(evidence, low, high)
        if p < settings.order_p:
            found = f"level {high} is easier than level {low}: {by} (p = {p:.2g})"
            sheet.fail("difficulty.order", found, "Make 1 the easiest level and the last one the hardest.")
    if len(evidence.levels) > 1 and all(
        alike(evidence, low, high) for low, high in pairwise(evidence.levels)
    ):
        found = "all levels play alike: the expert does as much, is shown as much, and nobody wins more or less often"
        sheet.fail(
            "difficulty.alike", found, "Let a higher level ask for more, or leave difficulty_levels out."
        )


def _easier(evidence: Evidence, low: Level, high: Level) -> tuple[float, str]:
    """Return how likely it is by chance that the high level looks so easy, and by what it does."""
    low_random, high_random = evidence.by("uniform", low), evidence.by("uniform", high)
    low_won, high_won = (sum(e.success for e in episodes) for episodes in (low_random, high_random))
    if low_won + high_won > NEARLY_NOUGHT * (len(low_random) + len(high_random)):
        p = p_more(high_won, len(high_random), low_won, len(low_random))
        return p, "random play succeeds more often"
    return p_shorter(_steps(evidence, high), _steps(evidence, low)), "the expert needs fewer steps"


def _steps(evidence: Evidence, level: Level) -> list[int]:
    return [len(episode.actions) for episode in evidence.by("expert", level)]


def alike(evidence: Evidence, low: Level, high: Level) -> bool:
    """Say whether nothing that was measured tells two levels apart.

    Compared are how often each policy succeeds (Fisher's exact test), what the expert has to do (:func:`work`, by
    the rank-sum test), and the numbers that resets show, each on both sides.
    """
    for one, other in zip(work(evidence, low), work(evidence, high), strict=True):
        if one and other and p_differ(one, other) < ALIKE_P:
            return False
    shown = list(zip(_shown(evidence, low), _shown(evidence, high), strict=False))
    if any(p_differ(one, other) < ALIKE_P / len(shown) for one, other in shown):
        return False
    return all(_p_equal(one, other) >= ALIKE_P for one, other in _both(evidence, low, high))


def _shown(evidence: Evidence, level: Level) -> list[list[float]]:
    """Return the first numbers that resets show, by their place; nothing where they are not equally many."""
    first = [episode.first[0] for episode in evidence.by("expert", level) if episode.first][:SHOWN_SEEDS]
    rows = [
        [float(n) for n in re.findall(r"-?\d+(?:\.\d+)?", str(plain(seen)))[:SHOWN_NUMBERS]] for seen in first
    ]
    alike_long = len({len(row) for row in rows}) == 1
    return [list(column) for column in zip(*rows, strict=True)] if alike_long else []


def work(evidence: Evidence, level: Level) -> tuple[list[int], ...]:
    """Return how much each of the expert's episodes asks for, in three measures.

    They are its steps, the characters of its actions, and the characters of what the reset shows. Tasks of one
    step differ in the latter two only.
    """
    shown = evidence.by("expert", level)
    said = [sum(len(str(plain(action))) for action in episode.actions) for episode in shown]
    seen = [len(str(plain(episode.first[0]))) for episode in shown if episode.first]
    return _steps(evidence, level), said, seen


def _both(evidence: Evidence, low: Level, high: Level) -> Iterator[tuple[list[Episode], list[Episode]]]:
    """Yield the episodes of each policy that played both levels."""
    for policy in sorted({episode.policy for episode in evidence.episodes if episode.complete}):
        if (one := evidence.by(policy, low)) and (other := evidence.by(policy, high)):
            yield one, other


def _p_equal(one: list[Episode], other: list[Episode]) -> float:
    """Return Fisher's two-sided p: how likely such different success is by chance."""
    here, there = ((sum(e.success for e in episodes), len(episodes)) for episodes in (one, other))
    return min(1.0, 2 * min(p_more(*here, *there), p_more(*there, *here)))
