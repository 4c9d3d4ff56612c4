"""What the live page of a run shows, as a value."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from spade_train.report.figures import rounds_table
from spade_train.report.gathering import Line
from spade_train.report.pictures import TITLES
from spade_train.report.reading import RunReader
from spade_train.report.tables import Table
from spade_train.report.triage import holds_back, triage
from spade_train.report.values import RoundFacts, RunFacts
from spade_train.report.verdict import Verdict
from spade_train.web.progress import Progress, progress

ROUNDS, ALARMS = 12, 8
"""How many of the newest are shown."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a piece stood in the designer's prompt."""

    piece: str
    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Saw:
    """What a designer was told in a round, counted from 0."""

    round: int
    tokens: int | None
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class Live:
    """The page.

    Attributes:
        version: what the folder was like when it was read.
        newest: the round that goes on, or the last one.
        saw: what the designer was told lately.
        alarms: round, counted from 0, and what the watch said, the newest first.
    """

    name: str
    version: str
    run: RunFacts
    progress: Progress
    newest: RoundFacts | None
    verdicts: tuple[Verdict, ...]
    rounds: Table
    saw: tuple[Saw, ...]
    alarms: tuple[tuple[int, str], ...]

    @property
    def charts(self) -> dict[str, str]:
        """Name -> title of each chart."""
        return TITLES

    @property
    def first(self) -> Verdict | None:
        """What holds the run back."""
        return holds_back(self.verdicts)

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        newest = self.newest
        return {
            **self.run.view.as_dict(),
            "version": self.version,
            "progress": asdict(self.progress),
            "newest": asdict(newest) if newest else None,
            "holds_back": self.first.check if self.first else None,
            "triage": [one.as_dict() for one in self.verdicts],
            "rounds": [dict(zip(self.rounds.columns, row, strict=True)) for row in self.rounds.rows],
            "designer_saw": [asdict(one) for one in self.saw],
            "alarms": [{"round": number, "what": what} for number, what in self.alarms],
            "broken_lines": self.run.broken,
        }


def live(name: str, version: str, reader: RunReader) -> Live:
    """Return the page of a run as it is now."""
    run = reader.read()
    table = rounds_table(run)
    designed = reader.rounds_of("contexts")
    alarms = [(one.number, alarm) for one in run.rounds for alarm in one.alarms]
    return Live(
        name,
        version,
        run,
        progress(run),
        run.rounds[-1] if run.rounds else None,
        triage(run),
        Table("Last rounds", table.columns, table.rows[-ROUNDS:][::-1], 0),
        tuple(saw(line) for line in reader.lines("contexts", designed[-1])) if designed else (),
        tuple(alarms[-ALARMS:][::-1]),
    )


def saw(line: Line) -> Saw:
    """Return a line of ``contexts.jsonl``, whatever it holds."""
    reasons = line.get("reasons")
    known = [one for one in reasons if isinstance(one, dict)] if isinstance(reasons, list) else []
    names = ("piece", "what", "why")
    tokens = line.get("prompt_tokens")
    return Saw(
        int(line["round"]),
        tokens if isinstance(tokens, int) else None,
        tuple(Reason(*(str(one.get(name, "")) for name in names)) for one in known),
    )
