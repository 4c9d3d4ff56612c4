"""What the agent can do by skill, and what the pool holds: as values that a prompt can tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SkillProfile:
    """How the agent fared lately in environments of one skill.

    Attributes:
        skill: the tag, as headers write it.
        plays: unhinted plays that count, over the rounds that are looked at.
        success, hinted: rates without and with the hint, in [0, 1]; None where no such play counts.
        regret: mean of the environments' regrets; None where none is known.
        trend: success in the later half of those rounds less that in the earlier half, in [-1, 1]; None where
            one half has no play.
    """

    skill: str
    plays: int
    success: float | None = None
    hinted: float | None = None
    regret: float | None = None
    trend: float | None = None


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
