"""One round of a run: what its designer was told, what became of the designs, what was played and why."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from spade_train.report.gathering import Line
from spade_train.report.reading import RunReader
from spade_train.report.values import RoundFacts
from spade_train.web.live import Saw, saw

LONGEST = 20_000
"""The most characters of a reply or a source that are shown."""
MOST = 64
"""The most designs that are shown."""


@dataclass(frozen=True, slots=True)
class Design:
    """One design.

    Attributes:
        slot: its place in its block.
        refusal: why it was refused; empty where it was admitted.
        source: as it was read from the reply; empty where none was.
    """

    slot: int
    env_id: str
    refusal: str
    reply: str
    source: str


@dataclass(frozen=True, slots=True)
class RoundPage:
    """The page.

    Attributes:
        facts: the round; its number is counted from 0.
        before, after: neighbouring rounds, where there are some.
    """

    name: str
    facts: RoundFacts
    saw: tuple[Saw, ...]
    designs: tuple[Design, ...]
    before: int | None
    after: int | None

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return asdict(self)


def round_page(name: str, number: int, reader: RunReader) -> RoundPage | None:
    """Return the page of a round; None where the run has none of that number."""
    rounds = {one.number: one for one in reader.read().rounds}
    if number not in rounds:
        return None
    return RoundPage(
        name,
        rounds[number],
        tuple(saw(line) for line in reader.lines("contexts", number)),
        tuple(_design(line) for line in reader.lines("designs", number)[:MOST]),
        number - 1 if number - 1 in rounds else None,
        number + 1 if number + 1 in rounds else None,
    )


def _design(line: Line) -> Design:
    slot = line.get("slot")
    return Design(
        slot if isinstance(slot, int) else 0,
        *(_text(line, key) for key in ("env_id", "refusal", "reply", "source")),
    )


def _text(line: Line, name: str) -> str:
    value = line.get(name)
    return "" if value is None else str(value)[:LONGEST]
