"""What a check comes to."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

State = Literal["holds back", "look", "fine", "unknown"]
"""It holds the run back; it is worth a look; nothing was found; there is too little to say."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check has found.

    Attributes:
        found: one sentence.
        evidence: what was measured: names and numbers.
        tries: what to try, the likeliest first.
        severity: whether it holds the run back, or is worth a look.
    """

    found: str
    evidence: tuple[tuple[str, str], ...]
    tries: tuple[str, ...]
    severity: Literal["holds back", "look"] = "holds back"


@dataclass(frozen=True, slots=True)
class TooLittle:
    """There is too little on record to say anything; ``lacks`` says of what."""

    lacks: str


@dataclass(frozen=True, slots=True)
class Fine:
    """Nothing is wrong; ``evidence`` is what was measured, names and numbers."""

    evidence: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """A check and what it came to.

    Attributes:
        check: its name, which the reference explains.
        subsystem: what would be at fault.
        asks: what it looks for.
        found: what it found.
    """

    check: str
    subsystem: str
    asks: str
    found: Finding | TooLittle | Fine

    @property
    def state(self) -> State:
        """What it came to, in a word or two."""
        if isinstance(self.found, Finding):
            return self.found.severity
        return "fine" if isinstance(self.found, Fine) else "unknown"

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        said = asdict(self.found)
        said |= {"evidence": dict(said["evidence"])} if "evidence" in said else {}
        return {"check": self.check, "subsystem": self.subsystem, "state": self.state, **said}
