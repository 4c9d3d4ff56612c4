"""What comes in is settled here, under the next free numbers and with parents by the ids that they have here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from spade_envs.admission.admit import Admission, duplicate, settle, surroundings
from spade_envs.admission.evidence import Surroundings
from spade_envs.admission.report import Report
from spade_envs.contract.header import Header, file_sha256, parse_header, set_parent
from spade_envs.contract.ids import EnvId
from spade_envs.errors import SpadeError
from spade_envs.registry.store import Registry
from spade_envs.transfer.arrival import Arrival


class Landing:
    """One import into one registry: what came, and under which ids it stands here.

    Args:
        came: what is imported.
        registry: where it is written.
        compared: what all designs are compared with; the stack and what is held out where missing.

    Attributes:
        compared: as given.
    """

    def __init__(
        self, came: Sequence[Arrival], registry: Registry, compared: Surroundings | None = None
    ) -> None:
        self.compared = compared or surroundings(registry)
        self._registry = registry
        self._places = {a.source: a.place for a in reversed(came) if isinstance(a.source, str)}
        self._here: dict[EnvId, EnvId] = {}

    def known(self, source: str) -> Admission | None:
        """Say what became of a design without judging it: its code is here already."""
        there = duplicate(source, self._registry)
        return None if there is None else self._noted(source, there)

    def settle(self, source: str, report: Report) -> Admission:
        """Do what a report says, with a parent that came along under the id that it has here."""
        header = parse_header(source)
        if not isinstance(header, Header):
            return settle(source, report, self._registry)
        parent = self._here.get(header.parent) if header.parent else None
        moved = set_parent(source, parent) if parent else source
        kept = replace(report, imported=self._origin(source, header))
        return self._noted(source, settle(moved, kept, self._registry, compared=self.compared))

    def landed(self, arrival: Arrival, verdict: Admission | Report | SpadeError) -> Admission | SpadeError:
        """Return what becomes of an arrival with a verdict."""
        if not isinstance(verdict, Report):
            return verdict
        return self.settle(arrival.source, verdict) if isinstance(arrival.source, str) else Admission(verdict)

    def _origin(self, source: str, header: Header) -> dict[str, str]:
        parent = {"parent": str(header.parent)} if header.parent else {}
        return {
            "id": str(header.id),
            "file_sha256": file_sha256(source),
            "from": self._places[source],
            **parent,
        }

    def _noted(self, source: str, admission: Admission) -> Admission:
        """Remember under which id a design stands here: the version that was written, or the one that it equals."""
        saw = admission.report.gates[-1].saw if admission.report.gates else {}
        here = EnvId.parse(str(admission.id or saw.get("equals", "")))
        header = parse_header(source)
        if isinstance(header, Header) and isinstance(here, EnvId):
            self._here.setdefault(header.id, here)
        return admission
