"""What of the memory a designer is told: pure functions, the same for equal records and round.

Of each idea its best record stands for all. *To build on* are ideas on the frontier, each worth

    0.4 regret + 0.2 weakness of its skills + 0.2 staleness + 0.2 unlikeness to what was chosen before it

and *to avoid* are ideas of which nothing is on the frontier and something was refused, too hard, too easy or won
by cheating:

    0.5 how often it came + 0.3 how lately + 0.2 staleness

Every addend lies in [0, 1]. The best goes first (maximal marginal relevance, Carbonell & Goldstein 1998); of
equals the later one. A reason that many designs were refused for is a *lesson*.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from spade_train.memory.ideas import alike
from spade_train.memory.record import Record

REGRET, WEAKNESS, STALENESS, VARIETY = 0.4, 0.2, 0.2, 0.2
OFTEN, LATELY, STALE = 0.5, 0.3, 0.2
ENOUGH = 4
"""So many designs of one idea that is to be avoided, and more, are the most that counts."""
MEMORABLE = 8
"""Rounds after which what was shown counts as stale, and what happened as long ago."""
UNKNOWN = 0.5
"""The weakness of a skill that was never played."""

LESSON_LENGTH = 160
"""The most characters of a lesson."""

_NUMBER = re.compile(r"\d+")
_NAMED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|spade/\S+")


@dataclass(frozen=True, slots=True)
class Piece:
    """One line that the memory tells.

    Attributes:
        kind: to build on, or to avoid.
        record: what it tells of.
        times: how often its idea has come.
        score: what chose it, in [0, 1].
        why: the addends in words.
    """

    kind: Literal["good", "bad"]
    record: Record
    times: int
    score: float
    why: str

    @property
    def text(self) -> str:
        """Return the line."""
        return f"{self.kind.capitalize()} before: {self.record.text(self.times)}"


@dataclass(frozen=True, slots=True)
class Lesson:
    """A reason for which designs were refused; ``times`` of them."""

    reason: str
    times: int
    round: int


def recall(
    records: Sequence[Record], weakness: Mapping[str, float], round: int, good: int = 2, bad: int = 1
) -> tuple[Piece, ...]:
    """Return what is told in a round: at most ``good`` to build on, then at most ``bad`` to avoid.

    Args:
        records: all, the oldest first.
        weakness: skill -> how weak the agent is there, in [0, 1].
        round: which one the prompt is for.
        good, bad: the most of each kind.
    """
    ideas = _by_idea(records)
    return (*_to_build_on(ideas, weakness, round, good), *_to_avoid(ideas, round, bad))


def lessons(records: Sequence[Record], count: int = 3) -> tuple[Lesson, ...]:
    """Return the reasons of refusals, each once: what was refused most often first, of equals the latest.

    Reasons that differ in numbers and names alone are one; its latest wording is told.
    """
    found: dict[str, Lesson] = {}
    for record in records:
        if record.why:
            kind = _NUMBER.sub("0", _NAMED.sub("x", record.why))
            before = found.get(kind)
            told = textwrap.shorten(record.why, LESSON_LENGTH, placeholder=" ...")
            found[kind] = Lesson(told, before.times + 1 if before else 1, record.round)
    return tuple(sorted(found.values(), key=lambda one: (-one.times, -one.round, one.reason))[:count])


def _by_idea(records: Sequence[Record]) -> list[list[Record]]:
    ideas: dict[str, list[Record]] = {}
    for at, record in enumerate(records):
        ideas.setdefault(record.key or f"#{at}", []).append(record)
    return list(ideas.values())


def _to_build_on(
    ideas: Sequence[Sequence[Record]], weakness: Mapping[str, float], round_: int, count: int
) -> list[Piece]:
    left = {at: best for at, idea in enumerate(ideas) if (best := _best(idea)) is not None}
    chosen: list[Piece] = []
    while left and len(chosen) < count:
        pieces = {at: _good(one, len(ideas[at]), weakness, round_, chosen) for at, one in left.items()}
        at = max(pieces, key=lambda n: (pieces[n].score, pieces[n].record.touched, n))
        chosen.append(pieces[at])
        del left[at]
    return chosen


def _best(idea: Sequence[Record]) -> Record | None:
    """Return what stands for an idea: the admitted record on the frontier that has the highest regret."""
    fit = [one for one in idea if one.on_frontier and not (one.refused or one.cheats)]
    return max(fit, key=lambda one: (one.regret or 0.0, one.touched), default=None)


def _good(
    record: Record, times: int, weakness: Mapping[str, float], round_: int, chosen: Sequence[Piece]
) -> Piece:
    parts = {
        "regret": REGRET * min(1.0, max(0.0, record.regret or 0.0)),
        "weak skills": WEAKNESS * max((weakness.get(one, UNKNOWN) for one in record.skills), default=UNKNOWN),
        "stale": STALENESS * _stale(record, round_),
        "unlike": VARIETY
        * (1 - max((alike(record.meaning, one.record.meaning) for one in chosen), default=0.0)),
    }
    return Piece("good", record, times, sum(parts.values()), _said(parts))


def _to_avoid(ideas: Sequence[Sequence[Record]], round_: int, count: int) -> list[Piece]:
    pieces = [piece for idea in reversed(ideas) if (piece := _bad(idea, round_)) is not None]
    return sorted(pieces, key=lambda one: (-one.score, -one.record.touched))[:count]


def _bad(idea: Sequence[Record], round_: int) -> Piece | None:
    fared = [one for one in idea if one.refused or one.extreme or one.cheats]
    if not fared or _best(idea) is not None:
        return None
    last = max(fared, key=lambda one: one.touched)
    parts = {
        "came often": OFTEN * min(1.0, len(idea) / ENOUGH),
        "lately": LATELY * (1 - min(1.0, max(0, round_ - last.touched) / MEMORABLE)),
        "stale": STALE * _stale(last, round_),
    }
    return Piece("bad", last, len(idea), sum(parts.values()), _said(parts))


def _stale(record: Record, round_: int) -> float:
    return 1.0 if record.shown is None else min(1.0, max(0, round_ - record.shown) / MEMORABLE)


def _said(parts: Mapping[str, float]) -> str:
    total = sum(parts.values())
    return f"{total:.2f} = " + " + ".join(f"{name} {value:.2f}" for name, value in parts.items())
