"""The report: what admission saw of one design, as JSON and as text."""

from __future__ import annotations

import platform
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from spade_envs.admission.severity import GATE_POLICY_VERSION
from spade_envs.admission.sheet import GateResult
from spade_envs.contract.findings import Rejection


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
        gates: the gates that were asked, in order; the last one is the one that failed, if any did.
        seconds: wall time.
        versions: of what judged it.
    """

    id: str | None
    code_sha256: str
    gates: tuple[GateResult, ...]
    seconds: float
    versions: dict[str, str] = field(default_factory=current_versions)

    @property
    def admitted(self) -> bool:
        """Whether every gate was passed."""
        return all(gate.passed for gate in self.gates)

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON-ready data."""
        return {
            "id": self.id,
            "admitted": self.admitted,
            "code_sha256": self.code_sha256,
            "gates": [gate.as_dict() for gate in self.gates],
            "seconds": round(self.seconds, 3),
            "versions": self.versions,
        }

    def text(self, path: str = "design", source: str | None = None) -> str:
        """Return the verdict and, for each finding, place, fault and mend."""
        verdict = "admitted" if self.admitted else f"refused at {self.gates[-1].name!r}"
        lines = [f"{path}: {self.id or 'no id'} {verdict} in {self.seconds:.1f} s"]
        lines += [finding.text(path, source) for gate in self.gates for finding in gate.findings]
        return "\n".join(lines)


def refused(rejection: Rejection, code_sha256: str = "") -> Report:
    """Return the report of a source that has no readable header, or none at all."""
    return Report(None, code_sha256, (GateResult("form", False, {}, rejection.findings),), 0.0)
