"""What the curriculum remembers of a run: for each environment its level, its last plays there, its last regret."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from spade_train.curriculum.ladder import Ladder
from spade_train.rewards.uncertainty import Tally, total


@dataclass(frozen=True, slots=True)
class Result:
    """What one environment's plays came to in one round, at one level.

    Attributes:
        levels: how many levels it has.
        plain: unhinted plays that count.
        regret: of these plays; None where it is not known.
    """

    env_id: str
    level: int
    levels: int
    plain: Tally
    regret: float | None = None


@dataclass(frozen=True, slots=True)
class Track:
    """One environment's past.

    Attributes:
        level: that is played next, from 1.
        levels: how many there are.
        window: unhinted plays at this level, one tally a round, the oldest first: :meth:`Ladder.window`.
        regret: at this level, when it was last played; None where it is not known.
        last: the round in which it was last played.
        rounds: in how many it was.
    """

    level: int = 1
    levels: int = 1
    window: tuple[Tally, ...] = ()
    regret: float | None = None
    last: int | None = None
    rounds: int = 0

    @property
    def plays(self) -> Tally:
        """Unhinted plays of the window."""
        return total(self.window)

    def is_mastered(self, ladder: Ladder) -> bool:
        """Whether the highest level is passed."""
        return self.level >= self.levels and ladder.is_passed(self.window)

    def after(self, number: int, result: Result, ladder: Ladder) -> Track:
        """Return the track with one more round. Plays at another level than the present one say only when it was."""
        seen = replace(
            self,
            levels=result.levels,
            last=number,
            rounds=self.rounds + (self.last != number or not self.rounds),
        )
        if result.level != self.level or not result.plain.plays:
            return seen
        window = ladder.window((*self.window, result.plain))
        level = ladder.step(window, self.level, result.levels)
        if level != self.level:
            return replace(seen, level=level, window=(), regret=None)
        return replace(seen, window=window, regret=self.regret if result.regret is None else result.regret)


@dataclass(frozen=True, slots=True)
class Learnt:
    """The tracks of all environments that were ever played, by id."""

    tracks: Mapping[str, Track] = field(default_factory=dict)

    def of(self, env_id: str) -> Track:
        """Return an environment's track; that of one which was never played is empty."""
        return self.tracks.get(env_id, Track())

    def after(self, number: int, results: Iterable[Result], ladder: Ladder) -> Learnt:
        """Return what is known after a round. Results of one environment and level count as one."""
        tracks = dict(self.tracks)
        for one in _joined(results):
            tracks[one.env_id] = tracks.get(one.env_id, Track()).after(number, one, ladder)
        return Learnt(tracks)

    def state(self) -> dict[str, Any]:
        """Return everything as JSON-ready data, for :meth:`from_state`."""
        return {
            name: [one.level, one.levels, list(map(list, one.window)), one.regret, one.last, one.rounds]
            for name, one in self.tracks.items()
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Learnt:
        """Return what :meth:`state` described."""
        return cls({name: _track(*row) for name, row in state.items()})


def _track(
    level: int, levels: int, window: Any, regret: float | None, last: int | None, rounds: int
) -> Track:
    return Track(level, levels, tuple(Tally(*pair) for pair in window), regret, last, rounds)


def _joined(results: Iterable[Result]) -> list[Result]:
    """Return one result for each environment and level; the regret is the mean of those that are known."""
    found: dict[tuple[str, int], list[Result]] = {}
    for one in results:
        found.setdefault((one.env_id, one.level), []).append(one)
    return [_mean(same) for same in found.values()]


def _mean(same: list[Result]) -> Result:
    known = [one.regret for one in same if one.regret is not None]
    regret = sum(known) / len(known) if known else None
    return replace(same[0], plain=total(one.plain for one in same), regret=regret)
