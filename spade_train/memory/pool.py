"""What may be played now, in figures that a prompt can tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import fmean


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of an environment since its admission.

    Attributes:
        difficulty: what admission scored it, in [0, 1]; None where it has no score.
        levels: how many levels of difficulty it has.
    """

    domain: str
    skills: tuple[str, ...]
    difficulty: float | None = None
    levels: int = 1


@dataclass(frozen=True, slots=True)
class PoolStatistics:
    """What may be played now.

    Attributes:
        active, mastered, too_hard: how many environments have that status.
        difficulty: mean of what admission scored the active ones, in [0, 1]; None where none has a score.
        domains, skills: tag -> how many of the active ones have it, the most first.
    """

    active: int = 0
    mastered: int = 0
    too_hard: int = 0
    difficulty: float | None = None
    domains: Mapping[str, int] = field(default_factory=dict)
    skills: Mapping[str, int] = field(default_factory=dict)


def statistics(active: Mapping[str, Facts | None], statuses: Iterable[str]) -> PoolStatistics:
    """Return the pool's figures.

    Args:
        active: id -> facts, None where no registry holds it any more, of everything that may be played.
        statuses: of all environments on record.
    """
    stand = Counter(statuses)
    known = [facts for facts in active.values() if facts is not None]
    scores = [facts.difficulty for facts in known if facts.difficulty is not None]
    return PoolStatistics(
        len(active),
        stand["mastered"],
        stand["too_hard"],
        fmean(scores) if scores else None,
        _most_first(facts.domain for facts in known),
        _most_first(skill for facts in known for skill in facts.skills),
    )


def _most_first(tags: Iterable[str]) -> dict[str, int]:
    counted = Counter(tags)
    return dict(sorted(counted.items(), key=lambda item: (-item[1], item[0])))
