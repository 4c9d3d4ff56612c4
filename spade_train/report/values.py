"""A run as values, whatever state its folder is in: what the records say, and nothing that they do not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from spade_train.rewards.uncertainty import NONE, Estimate, Tally, total
from spade_train.runs.views import RunView


@dataclass(frozen=True, slots=True)
class Designs:
    """Designs of a round (or of several), by how far they came; each number counts those that came at least so far.

    Attributes:
        asked: replies of the designer.
        read: a source was found in the reply.
        compiled: it lies within the language.
        ran: its episodes ran to their end, the same twice (gates ``form``, ``runs``, ``determinism``).
        admitted: every gate let it through.
        refused: rule -> how many designs it refused; one design may break several.
    """

    asked: int = 0
    read: int = 0
    compiled: int = 0
    ran: int = 0
    admitted: int = 0
    refused: Mapping[str, int] = field(default_factory=dict)

    @property
    def stages(self) -> tuple[tuple[str, int], ...]:
        """The funnel, from the first stage to the last."""
        return (
            ("designs", self.asked),
            ("source found", self.read),
            ("compiled", self.compiled),
            ("ran", self.ran),
            ("admitted", self.admitted),
        )

    def plus(self, other: Designs) -> Designs:
        """Return both together."""
        rules = {*self.refused, *other.refused}
        return Designs(
            self.asked + other.asked,
            self.read + other.read,
            self.compiled + other.compiled,
            self.ran + other.ran,
            self.admitted + other.admitted,
            {rule: self.refused.get(rule, 0) + other.refused.get(rule, 0) for rule in sorted(rules)},
        )


@dataclass(frozen=True, slots=True)
class Played:
    """One environment in one round.

    Attributes:
        chosen: whether the curriculum chose it; else it is a design of the round, which goes on or is done.
        why: the curriculum's reason.
        plain, hinted: successes of plays without and with the hint, of those that count.
        regret: mean return with the hint less that without; None where unknown.
    """

    env_id: str
    level: int
    chosen: bool
    why: str
    plain: Tally
    hinted: Tally
    regret: float | None = None


@dataclass(frozen=True, slots=True)
class RoundFacts:
    """One round; what an older version did not write down is None or empty.

    Attributes:
        number: counted from 0.
        finished: whether training is done; else the round is going on, or was cut off.
        regret, regret_error: of the round's admitted designs, and its standard error.
        signal: the agent's blocks whose rewards differ, of all.
        ideas: effective number of ideas among its designs.
        ends: how plays ended -> how many.
        invalid: plays with at least one turn that could not be read, of all plays.
        recovered: turns after such a turn that could be read again, of all turns after one.
        seconds: of each phase.
        skipped: why it was not played.
    """

    number: int
    finished: bool = True
    designs: Designs = field(default_factory=Designs)
    played: tuple[Played, ...] = ()
    admitted: tuple[str, ...] = ()
    regret: float | None = None
    regret_error: float | None = None
    agent_reward: float | None = None
    designer_reward: float | None = None
    loss: float | None = None
    grad_norm: float | None = None
    entropy: float | None = None
    signal: Tally = NONE
    ideas: float | None = None
    ends: Mapping[str, int] = field(default_factory=dict)
    invalid: Tally = NONE
    recovered: Tally = NONE
    seconds: Mapping[str, float] = field(default_factory=dict)
    alarms: tuple[str, ...] = ()
    skipped: str | None = None

    @property
    def plain(self) -> Tally:
        """All plays without the hint."""
        return total(one.plain for one in self.played)

    @property
    def hinted(self) -> Tally:
        """All plays with the hint."""
        return total(one.hinted for one in self.played)


@dataclass(frozen=True, slots=True)
class Evaluated:
    """One suite, played after so many rounds.

    Attributes:
        rounds: None where the evaluation was asked for by hand.
        score: mean success over its items.
        gain: by how much it lies above the beginning, or the base model.
        forgotten, looked_at: environments that are surely worse than when last trained, of those looked at; of
            the suite ``history`` alone.
        skipped: why it could not be played.
    """

    suite: str
    rounds: int | None
    score: Estimate | None = None
    gain: Estimate | None = None
    forgotten: tuple[str, ...] = ()
    looked_at: int = 0
    skipped: str | None = None


@dataclass(frozen=True, slots=True)
class RunFacts:
    """A whole run.

    Attributes:
        view: the run at a glance.
        preset: the settings that it began with, by name.
        changed: setting -> (value, the preset's) of what flags said.
        given: environments that the run began with.
        rounds: ascending; the last one may not be finished.
        faults: rounds that this machine could not finish, in words.
        broken: lines of records that could not be read.
        age: seconds since something was last written; None where nothing was.
    """

    view: RunView
    preset: str = "?"
    changed: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    given: tuple[str, ...] = ()
    rounds: tuple[RoundFacts, ...] = ()
    evaluations: tuple[Evaluated, ...] = ()
    faults: tuple[str, ...] = ()
    broken: int = 0
    age: float | None = None

    @property
    def done(self) -> tuple[RoundFacts, ...]:
        """The rounds that are finished and were played."""
        return tuple(one for one in self.rounds if one.finished and one.skipped is None)

    @property
    def born(self) -> dict[str, int]:
        """Environment -> the round that admitted it; -1 for those that the run began with."""
        found = dict.fromkeys(self.given, -1)
        for one in self.rounds:
            for env_id in one.admitted:
                found.setdefault(env_id, one.number)
        return found
