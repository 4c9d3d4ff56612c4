"""From lines of records to counts by round, one line after the other.

A line of another version, or of no version at all, raises one of :data:`BROKEN`; whoever reads counts it and goes on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from spade_train.report.values import Designs
from spade_train.rewards.uncertainty import NONE, Tally
from spade_train.runs.views import is_round

BROKEN = (KeyError, TypeError, ValueError, AttributeError, IndexError)

Line = Mapping[str, Any]

Key = tuple[str, int]
"""An environment and a level."""

Beginning = tuple[int, str, int, int]
"""A round, an environment, a level and a seed."""

_NAMED = re.compile(r"\[([a-z-]+\.[a-z-]+)\]")

_RUNS = ("form", "runs", "determinism")


@dataclass
class Plays:
    """What the plays of a round have come to so far.

    Attributes:
        plain, hinted: successes of those that count.
        rewards: of each block of the agent's.
        invalid, recovered: as :class:`spade_train.report.values.RoundFacts` has them.
    """

    plain: dict[Key, Tally] = field(default_factory=dict)
    hinted: dict[Key, Tally] = field(default_factory=dict)
    rewards: dict[tuple[str, int, int], set[float]] = field(default_factory=dict)
    invalid: Tally = NONE
    recovered: Tally = NONE

    @property
    def signal(self) -> Tally:
        """The agent's blocks whose rewards differ, of all."""
        return Tally(sum(len(of_block) > 1 for of_block in self.rewards.values()), len(self.rewards))

    def add(self, line: Line) -> None:
        """Count a line of ``plays.jsonl``."""
        if line.get("blind") or not line["turns"] or line.get("end") == "fault":
            return
        key = str(line["env_id"]), int(line.get("level", 1))
        into = self.hinted if line["hinted"] else self.plain
        into[key] = _plus(into.get(key, NONE), bool(line["success"]))
        self.invalid = _plus(self.invalid, float(line.get("well_formed", 1.0)) < 1.0)
        unread = line.get("unread") or ()  # older runs do not say
        for turn in unread:
            if turn + 1 < line["turns"]:
                self.recovered = _plus(self.recovered, turn + 1 not in unread)
        if line.get("reward") is not None:
            block = (*key, int(line["seed"]))
            self.rewards.setdefault(block, set()).add(round(float(line["reward"]), 9))


@dataclass
class Gathered:
    """All lines so far, by round. Of episodes, prompts and designs the places are kept, in bytes.

    Attributes:
        rounds: the whole lines.
        played_lines: every other kind of line that is kept.
        shown: beginning -> whether hinted -> place in ``episodes.jsonl``.
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
        """Take a line of ``<name>.jsonl`` that begins at a place.

        Raises:
            KeyError, TypeError, ValueError, AttributeError, IndexError: it is no such line.
        """
        number = int(line["round"])
        if number < self.latest.get(name, 0):
            self._forget(name, number)
        self.latest[name] = number
        _ADD[name](self, number, place, line)

    def _forget(self, name: str, number: int) -> None:
        """Leave out what was played from a round on: its weights were taken back, and it is played again."""
        for store in _STORES.get(name, ()):
            by_round: dict[int, Any] = getattr(self, store)
            for later in [one for one in by_round if one >= number]:
                del by_round[later]


def _add_round(known: Gathered, number: int, _: int, line: Line) -> None:
    if not is_round(line):
        raise ValueError(line)
    known.rounds[number] = line


def _add_design(known: Gathered, number: int, place: int, line: Line) -> None:
    before = known.designs.get(number, Designs())
    known.designs[number] = before.plus(design_counts(line))
    known.design_places.setdefault(number, []).append(place)


def _add_play(known: Gathered, number: int, _: int, line: Line) -> None:
    known.plays.setdefault(number, Plays()).add(line)


def _add_episode(known: Gathered, number: int, place: int, line: Line) -> None:
    beginning = (number, str(line["env_id"]), int(line.get("level", 1)), int(line["seed"]))
    known.shown.setdefault(number, {}).setdefault(beginning, {})[bool(line["hinted"])] = place


def _add_context(known: Gathered, number: int, place: int, _: Line) -> None:
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
    """Return how far one design came, as counts of 0 and 1."""
    admitted = line.get("env_id") is not None
    gates = (line.get("report") or {}).get("gates", ())
    ran = admitted or {str(gate["name"]) for gate in gates if gate["passed"]}.issuperset(_RUNS)
    read = line.get("source") is not None
    refused = {} if admitted else dict.fromkeys(_rules(line), 1)
    return Designs(1, int(read), int(bool(line["compiled"])), int(ran), int(admitted), refused)


def _rules(line: Line) -> set[str]:
    """Return the rules that refused a design; older runs name them in the text alone."""
    found = line.get("findings") or ()
    rules = {str(one["rule"]) for one in found if one.get("severity", "refuse") == "refuse"}
    return rules or set(_NAMED.findall(str(line.get("refusal")))) or {"other"}


def _plus(tally: Tally, hit: bool) -> Tally:
    return Tally(tally.wins + hit, tally.plays + 1)
