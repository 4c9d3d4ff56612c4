"""A round's choice: shares for what must not be forgotten and for what all is measured by, the rest by worth.

Pure: the same candidates, the same past and the same generator give the same choice.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from spade_train.curriculum.ladder import Ladder
from spade_train.curriculum.learnt import Learnt, Track
from spade_train.curriculum.terms import Band, worth

AGED = 0.1
"""Share of the draws by worth that goes by age instead: rho of prioritised level replay, as it was published."""

AGAIN = 0.5
"""What an environment's chance is multiplied with whenever it is drawn: its blocks begin from other seeds, but they
are still of one kind."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An environment that may be played.

    Attributes:
        skills: its tags.
        fixed: whether it belongs to the fixed reference: the run's curriculum as it began.
        mastered: whether it stands as mastered on record.
        shut: whether it stands as too hard: it is looked at again now and then.
    """

    env_id: str
    skills: tuple[str, ...] = ()
    fixed: bool = False
    mastered: bool = False
    shut: bool = False


@dataclass(frozen=True, slots=True)
class Shares:
    """How blocks are divided.

    Attributes:
        replay: of mastered environments, against forgetting.
        fixed: of the fixed reference, drawn uniformly at its easiest level: comparable over the whole run.
        band, ladder: what the rest is drawn by.
    """

    replay: float = 0.1
    fixed: float = 0.1
    band: Band = field(default_factory=Band)
    ladder: Ladder = field(default_factory=Ladder)


@dataclass(frozen=True, slots=True)
class Choice:
    """One block: what is played, and why."""

    env_id: str
    level: int
    why: str


@dataclass(frozen=True, slots=True)
class _Known:
    """A candidate with its past."""

    candidate: Candidate
    track: Track
    learned: bool

    def age(self, number: int) -> int:
        """Rounds since it was played; since before the run for one that never was."""
        return number + 1 if self.track.last is None else number - self.track.last


def choose(
    candidates: Sequence[Candidate],
    learnt: Learnt,
    count: int,
    number: int,
    rng: random.Random,
    shares: Shares,
    weakness: Mapping[str, float] | None = None,
) -> list[Choice]:
    """Return what fills ``count`` blocks of a round.

    Args:
        candidates: what may be played, one at least.
        learnt: what was learned of them.
        count: blocks.
        number: the round.
        rng: every draw comes from here.
        shares: how blocks are divided; the fraction of a block that is left over is drawn.
        weakness: skill -> how weak the agent is in it, in [0, 1].
    """
    known = [_known(one, learnt, shares.ladder) for one in candidates]
    old = [one for one in known if one.learned]
    fixed = [one for one in known if one.candidate.fixed]
    replayed = _whole(shares.replay * count, rng) if old else 0
    referred = min(_whole(shares.fixed * count, rng) if fixed else 0, count - replayed)
    return [
        *_by_worth(known, count - replayed - referred, number, rng, shares, weakness or {}),
        *_by_age(old, replayed, number, rng, shares.replay),
        *_reference(fixed, referred, rng, shares.fixed),
    ]


def _known(candidate: Candidate, learnt: Learnt, ladder: Ladder) -> _Known:
    """Look up a candidate's past. It stands as mastered where no level is left to climb, as too hard at its easiest."""
    track = learnt.of(candidate.env_id)
    stands = candidate.mastered and track.level >= track.levels
    shut = candidate.shut and track.level == 1
    return _Known(replace(candidate, shut=shut), track, stands or track.is_mastered(ladder))


def _by_worth(
    known: Sequence[_Known],
    count: int,
    number: int,
    rng: random.Random,
    shares: Shares,
    weakness: Mapping[str, float],
) -> list[Choice]:
    """Draw by worth; what is mastered waits for the replay, where there is anything else."""
    open_ = [one for one in known if not one.learned] or list(known)
    worths = [worth(one.track, one.candidate.skills, weakness, shares.band) for one in open_]
    scores = [0.0 if one.candidate.shut else value.score for one, value in zip(open_, worths, strict=True)]
    ages = [float(one.age(number)) for one in open_]
    chosen = []
    for _ in range(count):
        by_score, by_age = _parts(scores), _parts(ages)
        chances = [(1 - AGED) * a + AGED * b for a, b in zip(by_score, by_age, strict=True)]
        at = rng.choices(range(len(open_)), chances)[0]
        one = open_[at]
        said = f"{worths[at].said}; last played {_ago(one, number)}; chance {chances[at]:.2f} of {len(open_)}"
        chosen.append(Choice(one.candidate.env_id, one.track.level, said))
        scores[at], ages[at] = AGAIN * scores[at], AGAIN * ages[at]
    return chosen


def _by_age(old: Sequence[_Known], count: int, number: int, rng: random.Random, share: float) -> list[Choice]:
    """Take the mastered ones that were not played for longest; among equals, whichever is drawn."""
    waiting = sorted(old, key=lambda one: (-one.age(number), rng.random()))
    return [
        Choice(
            one.candidate.env_id,
            one.track.level,
            f"mastered, last played {_ago(one, number)}: replayed against forgetting (share {share:.2f})",
        )
        for one in (waiting[n % len(waiting)] for n in range(count))
    ]


def _reference(fixed: Sequence[_Known], count: int, rng: random.Random, share: float) -> list[Choice]:
    why = f"drawn uniformly from the {len(fixed)} of the fixed reference (share {share:.2f})"
    return [Choice(rng.choice(fixed).candidate.env_id, 1, why) for _ in range(count)]


def _whole(share: float, rng: random.Random) -> int:
    """Return a whole number whose mean over rounds is the share: systematic sampling."""
    return int(share + rng.random())


def _parts(values: Sequence[float]) -> list[float]:
    whole = sum(values)
    return [value / whole for value in values] if whole else [1 / len(values)] * len(values)


def _ago(one: _Known, number: int) -> str:
    rounds = one.age(number)
    return "never" if one.track.last is None else f"{rounds} round{'s' * (rounds != 1)} ago"
