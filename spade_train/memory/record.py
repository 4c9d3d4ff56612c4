"""What is remembered of one design."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from spade_envs import Rejection, parse_header, tree_key
from spade_envs.records import Measured
from spade_train.memory.ideas import Idea, stems

FRONTIER = (0.15, 0.85)
"""Success rates (without the hint) between which a design is worth imitating."""

TOO_HARD, TOO_EASY = 0.1, 0.9

REASON_LENGTH = 100
"""The most characters of a refusal's reason beside a record."""

KEPT_LENGTH = 300
"""The most characters of a refusal's reason that are remembered."""

_HELD_OUT = re.compile(r"\S+(?=, which is held out)")
_PLACE = re.compile(r"^design[:\d]*: ")
_NEXT = re.compile(r"\n(?=design[:\d]*: )")


@dataclass(frozen=True, slots=True)
class Record:
    """One earlier design, with its newest measures.

    Attributes:
        round: the self-play round that made it.
        id: the id it was admitted under or wished for; None where no header could be read.
        idea: its summary.
        success: share of episodes that reached the goal without the hint; None where it was not played.
        hinted: the same with the hint.
        regret, regret_low, regret_high: hinted minus unhinted mean return, with its 95 % interval.
        reason: why it was refused, where it was; at most :data:`KEPT_LENGTH` characters.
        tree: key of its syntax tree.
        key: of its idea: designs of one idea share it (:func:`spade_train.memory.ideas.keys`).
        standing: where it stands in the registry, such as active or mastered; empty where that is not known.
        plays, faults: of the newest measures.
        measured: the round of the newest measures.
        shown: the round in which a designer was last told of it.
    """

    round: int
    id: str | None = None
    title: str = ""
    idea: str = ""
    skills: tuple[str, ...] = ()
    success: float | None = None
    hinted: float | None = None
    regret: float | None = None
    reason: str | None = None
    domain: str = ""
    tree: str = ""
    key: str = ""
    standing: str = ""
    regret_low: float | None = None
    regret_high: float | None = None
    plays: int = 0
    faults: int = 0
    measured: int | None = None
    shown: int | None = None

    @classmethod
    def of(cls, source: str, round: int, *, id: str | None = None, reason: str | None = None) -> Record:
        """Return the record of a design; ``id`` where it was admitted under another than its header's."""
        short = None if reason is None else _HELD_OUT.sub("one", reason)[:KEPT_LENGTH]
        record = cls(round, id, reason=short, tree=tree_key(source) or "")
        header = parse_header(source)
        if isinstance(header, Rejection):
            return record
        return replace(
            record,
            id=id or str(header.id),
            title=header.title,
            idea=header.summary,
            skills=header.skills,
            domain=header.domain,
        )

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Record:
        """Return the record that :meth:`as_json` gave, or one of an earlier version, which knew less."""
        known = {field.name for field in fields(cls)}
        values: dict[str, Any] = {name: value for name, value in kept.items() if name in known}
        return cls(**(values | {"skills": tuple(values.get("skills", ()))}))

    def as_json(self) -> dict[str, Any]:
        """Return what is known, as JSON-ready data; what is not known is left out."""
        usual = {field.name: field.default for field in fields(self)}
        return {name: value for name, value in asdict(self).items() if value != usual[name]}

    @property
    def name(self) -> str:
        """Return what it is called: its id, or the key of its tree where it has none."""
        return self.id or self.tree

    @property
    def refused(self) -> bool:
        """Whether admission refused it."""
        return self.reason is not None

    @property
    def status(self) -> str:
        """Return where it stands: refused, admitted, or what has become of it since."""
        return "refused" if self.refused else self.standing or "admitted"

    @property
    def touched(self) -> int:
        """Return the round in which anything was last learned of it."""
        return self.round if self.measured is None else self.measured

    @property
    def on_frontier(self) -> bool:
        """Whether the agent succeeds sometimes."""
        return self.success is not None and FRONTIER[0] <= self.success <= FRONTIER[1]

    @property
    def extreme(self) -> bool:
        """Whether it is too hard or too easy."""
        return self.success is not None and not TOO_HARD <= self.success <= TOO_EASY

    @property
    def meaning(self) -> Idea:
        """Return what it is about."""
        return Idea(stems(self.idea), self.tree)

    @property
    def cheats(self) -> bool:
        """Whether the monitors took it out of play."""
        return self.standing == "quarantined"

    @property
    def why(self) -> str:
        """Return the first finding of its refusal in one line, without its place in the file."""
        first = _NEXT.split(self.reason or "")[0]
        return _PLACE.sub("", " ".join(first.split()))

    def with_measures(self, seen: Measured) -> Record:
        """Return the record with a round's measures in the place of older ones; rates that are unknown stay."""
        if seen.success is None and seen.hinted_success is None and not seen.faults:
            return self
        return replace(
            self,
            success=self.success if seen.success is None else seen.success,
            hinted=self.hinted if seen.hinted_success is None else seen.hinted_success,
            regret=self.regret if seen.regret is None else seen.regret,
            regret_low=self.regret_low if seen.regret is None else seen.regret_low,
            regret_high=self.regret_high if seen.regret is None else seen.regret_high,
            plays=seen.plays + seen.hinted_plays,
            faults=seen.faults,
            measured=seen.round,
        )

    def text(self, times: int = 1) -> str:
        """Return the record as one line of a prompt; ``times``: how often its idea has come."""
        about = f"{self.title}: {self.idea}" if self.title else ""
        often = f"Tried {times} times." if times > 1 else ""
        return " ".join(part for part in (about, self._fared(), often) if part)

    def _fared(self) -> str:
        if self.refused:
            return f"Refused: {textwrap.shorten(self.why, REASON_LENGTH, placeholder=' ...')}"
        if self.cheats:
            return "Withdrawn: it was won without the skill that it asks for."
        if self.success is None:
            return ""
        hinted = "" if self.hinted is None else f", with the hint {self.hinted:.2f}"
        verdict = " Too hard." if self.success < TOO_HARD else " Too easy." if self.success > TOO_EASY else ""
        faults = f" Plays that broke down: {self.faults}." if self.faults else ""
        return f"Success {self.success:.2f}{hinted}.{verdict}{faults}"
