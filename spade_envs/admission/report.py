"""The report: what admission saw of one design, as JSON and as text."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from spade_envs.admission.scores import Entry, Scores
from spade_envs.admission.severity import GATE_POLICY_VERSION
from spade_envs.admission.sheet import GateResult
from spade_envs.contract.findings import Finding, Rejection
from spade_envs.contract.printable import printable


@lru_cache(maxsize=1)
def current_versions() -> dict[str, str]:
    """Return the versions of what a verdict depends on."""
    from spade_envs.language import POLICY_VERSION

    packages = {name: _version(name) for name in ("spade-envs", "gymnasium", "numpy", "RestrictedPython")}
    policies = {"policy": str(POLICY_VERSION), "gates": str(GATE_POLICY_VERSION)}
    return {"python": platform.python_version(), **policies, **packages}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"


@dataclass(frozen=True, slots=True)
class Report:
    """What stands between a design and the registry.

    Attributes:
        id: the id in the design's header, None where it has no readable one.
        code_sha256: hash of what stands below the header.
        gates: the gates that were asked, in order; unless all were wanted, the last is the one that failed, if any did.
        seconds: wall time.
        versions: of what judged it.
        scores: what an admitted environment is worth.
        pool: whether it enters the active pool.
        imported: id, hash, place and parent that the design had elsewhere, if it came from there.
    """

    id: str | None
    code_sha256: str
    gates: tuple[GateResult, ...]
    seconds: float
    versions: dict[str, str] = field(default_factory=current_versions)
    scores: Scores | None = None
    pool: Entry | None = None
    imported: dict[str, str] | None = None

    @property
    def admitted(self) -> bool:
        """Whether every gate was passed."""
        return all(gate.passed for gate in self.gates)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What all gates found, warnings included."""
        return tuple(finding for gate in self.gates for finding in gate.findings)

    @property
    def refusing(self) -> tuple[Finding, ...]:
        """The findings that keep the design out."""
        return tuple(finding for finding in self.findings if finding.severity == "refuse")

    @property
    def verdict(self) -> str:
        """The verdict in a few words, with the gates that were not passed."""
        failed = [repr(gate.name) for gate in self.gates if not gate.passed]
        return f"refused at {', '.join(failed)}" if failed else "admitted"

    def headline(self, path: str = "design") -> str:
        """Return the first line of the text: which design, the verdict, how long it took."""
        return f"{printable(path)}: {self.id or 'no id'} {self.verdict} in {self.seconds:.1f} s"

    @property
    def worth(self) -> str:
        """The line of the scores and the active pool; empty where it was not scored."""
        return f"  {self.scores.text()}; {self.pool.text()}" if self.scores and self.pool else ""

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON-ready data."""
        worth: dict[str, Any] = {}
        if self.scores and self.pool:
            worth = {"scores": self.scores.as_dict(), "active_pool": self.pool.as_dict()}
        return {
            "id": self.id,
            "admitted": self.admitted,
            "code_sha256": self.code_sha256,
            "gates": [gate.as_dict() for gate in self.gates],
            **worth,
            "seconds": round(self.seconds, 3),
            "versions": self.versions,
            **({"imported": self.imported} if self.imported else {}),
        }

    def text(self, path: str = "design", source: str | None = None) -> str:
        """Return the verdict and, for each finding, place, fault and mend."""
        lines = [self.headline(path), *([self.worth] if self.worth else [])]
        lines += [finding.text(path, source) for finding in self.findings]
        return "\n".join(lines)


def gates_of(report: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Return the gates in a report as it was stored, whatever older or edited files hold."""
    gates = (report or {}).get("gates")
    return [gate for gate in gates if isinstance(gate, dict)] if isinstance(gates, list) else []


def refused(rejection: Rejection, code_sha256: str = "") -> Report:
    """Return the report of a source that has no readable header, or none at all."""
    return Report(None, code_sha256, (GateResult("form", False, {}, rejection.findings),), 0.0)
