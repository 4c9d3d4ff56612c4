"""Verifying versions, several at once. What is wrong with one stops no other."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from spade_envs.admission.evidence import Surroundings
from spade_envs.admission.judging import judge
from spade_envs.admission.side_by_side import cores, side_by_side
from spade_envs.contract.findings import Finding
from spade_envs.errors import SpadeError
from spade_envs.verification.checks import checked, judged
from spade_envs.verification.evidence import Place
from spade_envs.verification.gather import gather

PAYS = 25
"""Versions that take as long as another process takes to start, where no gates are asked."""


@dataclass(frozen=True, slots=True)
class Verified:
    """What became of a version.

    Attributes:
        place: where it stands.
        findings: what differs, and what the report lacks (that only warns).
        seconds: wall time.
    """

    place: Place
    findings: tuple[Finding, ...]
    seconds: float = 0.0

    @property
    def sound(self) -> bool:
        """Whether nothing differs."""
        return all(finding.severity == "warn" for finding in self.findings)

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {
            "id": str(self.place.id) if self.place.id else None,
            "path": str(self.place.path),
            "sound": self.sound,
            "findings": [finding.as_dict() for finding in self.findings],
            "seconds": round(self.seconds, 3),
        }


def verify(
    places: Sequence[Place], *, around: Surroundings | None = None, jobs: int | None = None
) -> Generator[tuple[Place, Verified | SpadeError], None, None]:
    """Verify versions and yield each, in their order; an error where this machine cannot play any.

    Closing the iterator stops the processes and their workers.

    Args:
        places: the versions.
        around: where it is given, all gates are asked again, too, with this to compare with.
        jobs: how many are verified at once; where missing as many as there are cores, and no more than pay.
    """
    jobs = jobs or min(cores(), len(places) if around else -(-len(places) // PAYS))
    waiting: dict[int, Verified | SpadeError] = {}
    turn = 0
    with closing(side_by_side(verified, [(place, around) for place in places], jobs)) as results:
        for number, result in results:
            waiting[number] = result
            while turn in waiting:
                yield places[turn], waiting.pop(turn)
                turn += 1


def verified(place: Place, around: Surroundings | None) -> Verified:
    """Verify one version.

    Raises:
        IsolationError: this machine cannot start a worker.
    """
    if place.finding is not None:
        return Verified(place, (place.finding,))
    start = time.monotonic()
    gathered = gather(place)
    findings = checked(gathered)
    source = gathered.reading.source
    if around is not None and source is not None and gathered.reading.header is not None:
        findings += tuple(judged(gathered.reading.report, judge(source, around=around)))
    return Verified(place, findings, time.monotonic() - start)
