"""What playing an environment once more is worth: five terms, each in [0, 1], and the sentence that tells them.

A score that says how much can be learned, and a share of draws by age, so that no score grows too old to be
believed: prioritised level replay (Jiang, Grefenstette, Rocktäschel 2021, arXiv 2010.03934). Here the score asks
first whether success lies in the band in which GRPO's groups differ, as a factor: outside it there is next to
nothing to learn, however weak the skill.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spade_train.curriculum.learnt import Track

SLOPE = 0.25
"""How far outside the band an environment is worth nothing: the plateau of SPADE's released designer reward."""

FLOOR = 0.02
"""What is left of an environment's worth far outside the band."""


@dataclass(frozen=True, slots=True)
class Band:
    """Success rates, without the hint, between which the agent learns most."""

    low: float = 0.3
    high: float = 0.7

    def __contains__(self, rate: float) -> bool:
        return self.low <= rate <= self.high

    def nearness(self, rate: float) -> float:
        """Return 1 within the band, falling in a straight line to 0 at a distance of :data:`SLOPE`."""
        return max(0.0, 1 - max(self.low - rate, rate - self.high, 0.0) / SLOPE)


@dataclass(frozen=True, slots=True)
class Worth:
    """The terms of one environment.

    Attributes:
        band: nearness of success to the band; 1 where it was never played at its level.
        regret: what the hint was worth; 0 where it harmed, one half where it is not known.
        weakness: of the agent in the skill in which it is weakest; one half where that is not known.
        novelty: 1 over 1 and the rounds in which it was played.
        said: what these are made of, in words.
    """

    band: float
    regret: float
    weakness: float
    novelty: float
    said: str

    @property
    def score(self) -> float:
        """The worth, above 0."""
        return max(FLOOR, self.band) * (1 + self.regret + self.weakness + self.novelty)


def worth(track: Track, skills: Sequence[str], weakness: Mapping[str, float], band: Band) -> Worth:
    """Return what an environment is worth.

    Args:
        track: its past.
        skills: its tags.
        weakness: skill -> how weak the agent is in it, in [0, 1]; skills that nobody knows of are left out.
        band: success rates.
    """
    known = [(weakness[skill], skill) for skill in skills if skill in weakness]
    weak, skill = max(known, default=(0.5, ""))
    regret = 0.5 if track.regret is None else min(1.0, max(0.0, track.regret))
    plays = track.plays
    near = band.nearness(plays.rate) if plays.plays else 1.0
    said = _of_success(track, band), _of_regret(track), f"weakness {weak:.2f} in {skill}" if skill else ""
    return Worth(near, regret, weak, 1 / (1 + track.rounds), ", ".join(filter(None, said)))


def _of_success(track: Track, band: Band) -> str:
    plays = track.plays
    if not plays.plays:
        return "never played at this level" if track.rounds else "never played"
    place = "in" if plays.rate in band else "below" if plays.rate < band.low else "above"
    return f"success {plays.wins} of {plays.plays} lies {place} the band"


def _of_regret(track: Track) -> str:
    return "" if track.regret is None else f"regret {track.regret:+.2f}"
