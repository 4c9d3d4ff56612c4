"""What is on record, as values."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from spade_envs.contract.printable import printable
from spade_envs.errors import UsageError

Status = Literal["admitted", "active", "mastered", "too_hard", "retired", "quarantined"]
STATUSES: tuple[Status, ...] = get_args(Status)
Sort = Literal["name", "newest", "difficulty", "regret", "success", "diversity", "round", "rank"]
"""In which order versions are listed: see :class:`spade_envs.records.Query`."""
Range = tuple[float, float]
EVERYTHING: Range = (-math.inf, math.inf)


def to_range(text: str, what: str) -> Range:
    """Read a range: ``A..B``, ``A..`` or ``..B``.

    Args:
        text: what somebody wrote.
        what: how the message names it.

    Raises:
        UsageError: it is none.
    """
    low, dots, high = text.partition("..")
    try:
        if not dots or not (low or high):
            raise ValueError
        return float(low or -math.inf), float(high or math.inf)
    except ValueError:
        raise UsageError(
            f"{what} {printable(text)} is no range; write A..B, for example 0.2..0.8, 0.5.. or ..0.5"
        ) from None


def now() -> str:
    """Return the present time as records have it: ISO 8601, UTC, whole seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True, slots=True)
class StatusChange:
    """One change of an environment's status.

    Attributes:
        id: the version, as text.
        status: what it is from now on.
        reason: why, in words, with the figures that decided.
        run, round: where it happened; None where a person did it.
        at: when, ISO 8601.
    """

    id: str
    status: Status
    reason: str
    run: str | None = None
    round: int | None = None
    at: str = field(default_factory=now)

    def as_dict(self) -> dict[str, Any]:
        """Return the change as JSON-ready data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Measured:
    """What one round of a run measured of one version.

    Attributes:
        id: the version, as text.
        plays, hinted_plays: how many episodes counted, without and with the hint.
        faults: how many ended in a fault and did not count.
        mean_return: of the unhinted plays.
        success, hinted_success: rates; None where no play counts.
        regret, regret_low, regret_high: with its 95 % interval; None where no seed was played both ways.
        mean_steps: of the unhinted plays.
    """

    id: str
    run: str
    round: int
    plays: int
    hinted_plays: int = 0
    faults: int = 0
    mean_return: float | None = None
    success: float | None = None
    hinted_success: float | None = None
    regret: float | None = None
    regret_low: float | None = None
    regret_high: float | None = None
    mean_steps: float | None = None
    at: str = field(default_factory=now)

    def as_dict(self) -> dict[str, Any]:
        """Return the measures as JSON-ready data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Choice:
    """That a version was chosen for a round of a run, and why."""

    id: str
    run: str
    round: int
    reason: str
    at: str = field(default_factory=now)

    def as_dict(self) -> dict[str, Any]:
        """Return the choice as JSON-ready data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refused design: its source lies in the registry's folder ``refused`` as long as there is room.

    Attributes:
        id: the id in its header, None where that could not be read.
        gate: the first gate that it did not pass.
        times: how often the same code came.
    """

    code_sha256: str
    id: str | None
    gate: str
    reasons: tuple[str, ...]
    times: int
    first_at: str
    last_at: str
    run: str | None = None
    round: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the refusal as JSON-ready data."""
        return {**asdict(self), "reasons": list(self.reasons)}


@dataclass(frozen=True, slots=True)
class Listed:
    """One version as a list shows it.

    Attributes:
        difficulty, diversity, stability: the scores of its admission, in [0, 1]; None in old reports.
        tools: how many tools it has; None where its report does not say.
        provenance: what is known of its making: designer, prompt_sha256, sampling, document, way ...
        status, status_since: where it stands; None where no change is on record.
        plays ... regret_high: the newest measurement; None where there is none.
    """

    id: str
    name: str
    version: int
    title: str
    summary: str
    domain: str
    skills: tuple[str, ...]
    origin: str
    parent: str | None
    generation_round: int | None
    max_episode_steps: int
    difficulty_levels: int | None
    tools: int | None
    code_sha256: str
    file_sha256: str
    admitted_at: str | None
    run: str | None
    round: int | None
    difficulty: float | None
    diversity: float | None
    stability: float | None
    provenance: dict[str, Any]
    status: Status
    status_since: str | None
    plays: int | None
    success: float | None
    hinted_success: float | None
    regret: float | None
    regret_low: float | None
    regret_high: float | None

    def as_dict(self) -> dict[str, Any]:
        """Return the row as JSON-ready data."""
        return {**asdict(self), "skills": list(self.skills)}
