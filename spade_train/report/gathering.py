"""From lines of records to counts by round, one line after the other.

A line of another version, or of no version at all, raises one of :data:`BROKEN`; whoever reads counts it and goes on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from spade_train.report.values import Designs
from spade_train.rewards.uncertainty import NONE, Tally, total
from spade_train.runs.views import is_round

BROKEN = (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, RecursionError)

Line = Mapping[str, Any]

Key = tuple[str, int]
"""An environment and a level."""

Beginning = tuple[int, str, int, int]
"""A round, an environment, a level and a seed."""

_LAST = 10**9
"""No run has more rounds; what is larger no chart can place."""

_NAMED = re.compile(r"\[([a-z-]+\.[a-z-]+)\]")

_RUNS = ("form", "runs", "determinism")


@dataclass
class Plays:
    """What the plays of a round have come to so far.

    Attributes:
        plain, hinted: successes of those that count.
        rewards: of each block of the agent's.
        invalid, recovered: as :class:`spade_train.report.values.RoundFacts` has them.
        lines: how many were counted.
    """

    plain: dict[Key, Tally] = field(default_factory=dict)
    hinted: dict[Key, Tally] = field(default_factory=dict)
    rewards: dict[tuple[str, int, int], set[float]] = field(default_factory=dict)
    invalid: Tally = NONE
    recovered: Tally = NONE
    lines: int = 0

    @property
    def signal(self) -> Tally:
        """The agent's blocks whose rewards differ, of all."""
        return Tally(sum(len(of_block) > 1 for of_block in self.rewards.values()), len(self.rewards))

    def add(self, play: Play) -> None:
        """Count a play."""
        self.lines += 1
        if not play.counts:
            return
        into = self.hinted if play.hinted else self.plain
        into[play.key] = total((into.get(play.key, NONE), Tally(int(play.success), 1)))
        self.invalid = total((self.invalid, Tally(int(play.invalid), 1)))
        self.recovered = total((self.recovered, play.recovered))
        if play.reward is not None:
            self.rewards.setdefault((*play.key, play.seed), set()).add(play.reward)


@dataclass(frozen=True, slots=True)
class Play:
    """What is counted of a line of ``plays.jsonl``.

    Attributes:
        counts: whether it says something about the agent: it was played as it is meant, and no fault ended it.
        invalid: whether a turn could not be read.
        recovered: of the turns after such a turn, those that could be read.
    """

    key: Key
    seed: int
    counts: bool
    hinted: bool
    success: bool
    invalid: bool
    recovered: Tally
    reward: float | None

    @classmethod
    def of(cls, line: Line) -> Play:
        """Read a line. Raises one of :data:`BROKEN` where it is none."""
        turns, reward = int(line["turns"]), line.get("reward")
        unread = {int(turn) for turn in line.get("unread") or ()}  # older runs do not say
        after = [turn + 1 for turn in unread if turn + 1 < turns]
        return cls(
            (str(line["env_id"]), int(line.get("level", 1))),
            int(line["seed"]),
            not line.get("blind") and turns > 0 and line.get("end") != "fault",
            bool(line["hinted"]),
            bool(line["success"]),
            float(line.get("well_formed", 1.0)) < 1.0,
            Tally(sum(turn not in unread for turn in after), len(after)),
            None if reward is None else round(float(reward), 9),
        )


@dataclass
class Gathered:
    """All lines so far, by round. Of episodes, prompts and designs the places are kept, in bytes.

    Attributes:
        rounds, faults, evaluations: the whole lines.
        shown: beginning -> whether hinted -> place in ``episodes.jsonl``.
        latest: the round of each file's last line.
    """

    rounds: dict[int, Line] = field(default_factory=dict)
    designs: dict[int, Designs] = field(default_factory=dict)
    design_places: dict[int, list[int]] = field(default_factory=dict)
    plays: dict[int, Plays] = field(default_factory=dict)
    shown: dict[int, dict[Beginning, dict[bool, int]]] = field(default_factory=dict)
    context_places: dict[int, list[int]] = field(default_factory=dict)
    faults: list[Line] = field(default_factory=list)
    evaluations: list[Line] = field(default_factory=list)
    latest: dict[str, int] = field(default_factory=dict)

    def add(self, name: str, place: int, line: Line) -> None:
        """Take a line of ``<name>.jsonl`` that begins at a place. Raises one of :data:`BROKEN` where it is none."""
        number = int(line["round"])
        if abs(number) > _LAST:
            raise OverflowError(number)
        _ADD[name](self, number, place, line)

    def begin(self, name: str, number: int) -> None:
        """Make room for a line of a round: where the rounds went back, their weights were, and all is played again."""
        back, self.latest[name] = number < self.latest.get(name, 0), number
        for store in _STORES[name] if back else ():
            by_round: dict[int, Any] = getattr(self, store)
            for later in [one for one in by_round if one >= number]:
                del by_round[later]


def _add_round(known: Gathered, number: int, _: int, line: Line) -> None:
    if not is_round(line):
        raise ValueError(line)
    known.begin("rounds", number)
    known.rounds[number] = line


def _add_design(known: Gathered, number: int, place: int, line: Line) -> None:
    made = design_counts(line)
    known.begin("designs", number)
    known.designs[number] = known.designs.get(number, Designs()).plus(made)
    known.design_places.setdefault(number, []).append(place)


def _add_play(known: Gathered, number: int, _: int, line: Line) -> None:
    play = Play.of(line)
    known.begin("plays", number)
    known.plays.setdefault(number, Plays()).add(play)


def _add_episode(known: Gathered, number: int, place: int, line: Line) -> None:
    beginning = (number, str(line["env_id"]), int(line.get("level", 1)), int(line["seed"]))
    hinted = bool(line["hinted"])
    known.begin("episodes", number)
    known.shown.setdefault(number, {}).setdefault(beginning, {})[hinted] = place


def _add_context(known: Gathered, number: int, place: int, line: Line) -> None:
    if not isinstance(line["reasons"], list):
        raise TypeError(line)
    known.begin("contexts", number)
    known.context_places.setdefault(number, []).append(place)


_ADD: dict[str, Callable[[Gathered, int, int, Line], None]] = {
    "rounds": _add_round,
    "designs": _add_design,
    "plays": _add_play,
    "episodes": _add_episode,
    "contexts": _add_context,
    "faults": lambda known, _, __, line: known.faults.append(line),
    "evaluations": lambda known, _, __, line: known.evaluations.append(line),
}
_STORES = {
    "rounds": ("rounds",),
    "designs": ("designs", "design_places"),
    "plays": ("plays",),
    "episodes": ("shown",),
    "contexts": ("context_places",),
}

FILES = tuple(_ADD)
"""A round's line is written last and read first: what it sums up is then there."""


def design_counts(line: Line) -> Designs:
    """Return how far one design came, as counts of 0 and 1. Raises one of :data:`BROKEN` where it is none."""
    if not isinstance(line["compiled"], bool) or not isinstance(line.get("env_id"), str | None):
        raise TypeError(line)
    admitted = line.get("env_id") is not None
    gates = (line.get("report") or {}).get("gates", ())
    ran = admitted or {str(gate["name"]) for gate in gates if gate["passed"]}.issuperset(_RUNS)
    read = line.get("source") is not None
    refused = {} if admitted else dict.fromkeys(_rules(line), 1)
    return Designs(1, int(read), int(line["compiled"]), int(ran), int(admitted), refused)


def _rules(line: Line) -> set[str]:
    """Return the rules that refused a design; older runs name them in the text alone."""
    found = line.get("findings") or ()
    rules = {str(one["rule"]) for one in found if one.get("severity", "refuse") == "refuse"}
    return rules or set(_NAMED.findall(str(line.get("refusal")))) or {"other"}
