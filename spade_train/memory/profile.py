"""What the agent can do by skill, from its plays of the last rounds, and which skill the next design is to train."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from spade_envs.records import Measured

ROUNDS = 8
"""Rounds that are looked at."""

SKILLS = 64
"""Skills that are remembered of one round: those that were played most."""


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

    @property
    def weakness(self) -> float:
        """Return 1 less the success rate, with one success and one failure added: little play says little."""
        return 1 - ((self.success or 0.0) * self.plays + 1) / (self.plays + 2)


@dataclass(frozen=True, slots=True)
class Practice:
    """One round's plays in environments of one skill; in JSON a list of its figures.

    Attributes:
        won, hinted_won: successes of ``plays`` and ``hinted_plays``.
        regret: sum of the regrets of ``regrets`` environments.
    """

    plays: int = 0
    won: int = 0
    hinted_plays: int = 0
    hinted_won: int = 0
    regret: float = 0.0
    regrets: int = 0

    def __add__(self, other: Practice) -> Practice:
        """Return both together."""
        return Practice(
            self.plays + other.plays,
            self.won + other.won,
            self.hinted_plays + other.hinted_plays,
            self.hinted_won + other.hinted_won,
            self.regret + other.regret,
            self.regrets + other.regrets,
        )


Season = Mapping[str, Practice]
"""Skill -> one round's practice."""


def season(measured: Iterable[Measured], skills: Mapping[str, Sequence[str]]) -> dict[str, Practice]:
    """Return one round's practice by skill, at most :data:`SKILLS` of them.

    Args:
        measured: what was played.
        skills: id -> tags; an environment counts for each of its own.
    """
    found: dict[str, Practice] = {}
    for one in measured:
        for skill in skills.get(one.id, ()):
            found[skill] = found.get(skill, Practice()) + _practice(one)
    most = sorted(found, key=lambda skill: (-found[skill].plays, skill))[:SKILLS]
    return {skill: found[skill] for skill in sorted(most)}


def profiles(seasons: Sequence[Season]) -> tuple[SkillProfile, ...]:
    """Return the profile of every skill that was played, the weakest first.

    Args:
        seasons: of the last rounds, the oldest first.
    """
    names = sorted({skill for one in seasons for skill in one})
    found = [_profile(name, [one.get(name, Practice()) for one in seasons]) for name in names]
    return tuple(sorted((one for one in found if one.plays), key=lambda one: (-one.weakness, one.skill)))


def choose_target(profile: Sequence[SkillProfile], rng: Random) -> SkillProfile | None:
    """Return the skill that the next design is to train; None where nothing was played.

    It is drawn with a probability in proportion to its weakness plus its regret, nought where that is negative:
    what the agent cannot do yet, most of all where a hint shows that it nearly can.
    """
    if not profile:
        return None
    return rng.choices(profile, [worth(one) for one in profile])[0]


def worth(one: SkillProfile) -> float:
    """Return the weight with which a skill is drawn: it is above nought."""
    return one.weakness + max(0.0, one.regret or 0.0)


def _practice(one: Measured) -> Practice:
    return Practice(
        one.plays,
        round((one.success or 0.0) * one.plays),
        one.hinted_plays,
        round((one.hinted_success or 0.0) * one.hinted_plays),
        one.regret or 0.0,
        int(one.regret is not None),
    )


def _profile(skill: str, practised: Sequence[Practice]) -> SkillProfile:
    half = len(practised) // 2
    early, late = (sum(part, Practice()) for part in (practised[:half], practised[half:]))
    whole = early + late
    before, now = _rate(early.won, early.plays), _rate(late.won, late.plays)
    return SkillProfile(
        skill,
        whole.plays,
        _rate(whole.won, whole.plays),
        _rate(whole.hinted_won, whole.hinted_plays),
        _rate(whole.regret, whole.regrets),
        None if before is None or now is None else now - before,
    )


def _rate(sum_: float, count: int) -> float | None:
    return sum_ / count if count else None
