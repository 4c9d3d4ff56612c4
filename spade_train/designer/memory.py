"""What was designed before and how it fared, as a designer sees it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from spade_envs import Rejection, parse_header

FRONTIER = (0.15, 0.85)
"""Success rates (without the hint) between which a design is worth imitating."""

TOO_HARD, TOO_EASY = 0.1, 0.9

REASON_LENGTH = 100
"""The most characters of a refusal's reason that a prompt shows."""


@dataclass(frozen=True, slots=True)
class Record:
    """One earlier design.

    Attributes:
        round: the self-play round that made it.
        id: the id it was admitted under or wished for; None where no source could be read.
        idea: its summary.
        success: share of episodes that reached the goal without the hint; None where it was not played.
        hinted: the same with the hint.
        regret: hinted minus unhinted mean return.
        reason: why it was refused, where it was.
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

    @classmethod
    def of(
        cls,
        source: str,
        round: int,
        *,
        id: str | None = None,
        success: float | None = None,
        hinted: float | None = None,
        regret: float | None = None,
        reason: str | None = None,
    ) -> Record:
        """Return the record of a design; ``id`` where it was admitted under another than its header's."""
        record = cls(round, id, success=success, hinted=hinted, regret=regret, reason=reason)
        header = parse_header(source)
        if isinstance(header, Rejection):
            return record
        env_id, idea = id or str(header.id), header.summary
        return replace(record, id=env_id, title=header.title, idea=idea, skills=header.skills)

    @property
    def status(self) -> Literal["admitted", "refused"]:
        """Return what admission said."""
        return "admitted" if self.reason is None else "refused"

    def text(self) -> str:
        """Return the record as one line of a prompt."""
        about = f"{self.title}: {self.idea} " if self.title else ""
        if self.reason is not None:
            return f"{about}Refused: {' '.join(self.reason.split())[:REASON_LENGTH]}"
        if self.success is None:
            return about.rstrip()
        hinted = "" if self.hinted is None else f", with the hint {self.hinted:.2f}"
        verdict = " Too hard." if self.success < TOO_HARD else " Too easy." if self.success > TOO_EASY else ""
        return f"{about}Success {self.success:.2f}{hinted}.{verdict}"


class Memory:
    """The last ``limit`` records, the oldest first out."""

    def __init__(self, records: Iterable[Record] = (), limit: int = 200) -> None:
        self.limit = limit
        self._records: dict[tuple[int, str | None, str], Record] = {}
        for record in records:
            self.add(record)

    def __len__(self) -> int:
        return len(self._records)

    def add(self, record: Record) -> None:
        """Remember a record. One of the same round, id and status takes the old one's place."""
        self._records[record.round, record.id, record.status] = record
        while len(self) > self.limit:
            del self._records[next(iter(self._records))]

    def frontier(self, limit: int = 32) -> list[str]:
        """Return the latest environments that are neither too hard nor too easy, the oldest first."""
        on = [r.id for r in self._records.values() if r.id and _on_frontier(r)]
        return list(dict.fromkeys(reversed(on)))[:limit][::-1]

    def digest(self, good: int = 2, bad: int = 1) -> str:
        """Return examples to build on and to avoid, each a line of a prompt.

        To build on: success on the frontier, the highest regret first. To avoid: refused, too hard or too
        easy, the latest first.
        """
        records = list(self._records.values())
        frontier = [record for record in records if _on_frontier(record)]
        frontier.sort(key=lambda r: r.regret or 0.0, reverse=True)
        avoid = [r for r in reversed(records) if r.reason is not None or _extreme(r.success)]
        lines = [f"Good before: {record.text()}" for record in frontier[:good]]
        return "\n".join([*lines, *(f"Bad before: {record.text()}" for record in avoid[:bad])])

    def state(self) -> dict[str, Any]:
        """Return everything as JSON-ready data, for :meth:`from_state`."""
        return {"limit": self.limit, "records": [asdict(record) for record in self._records.values()]}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Memory:
        """Return the memory that :meth:`state` described."""
        records = [Record(**{**record, "skills": tuple(record["skills"])}) for record in state["records"]]
        return cls(records, state["limit"])


def _on_frontier(record: Record) -> bool:
    return record.success is not None and FRONTIER[0] <= record.success <= FRONTIER[1]


def _extreme(success: float | None) -> bool:
    return success is not None and not TOO_HARD <= success <= TOO_EASY
