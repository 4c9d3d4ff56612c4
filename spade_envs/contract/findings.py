"""What a check found, and the verdict that is made of it: values, so that refusals can be kept and read."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from spade_envs.contract.printable import printable

Severity = Literal["refuse", "warn"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong in a design.

    Attributes:
        rule: stable dotted name, for example ``"header.unknown-key"`` or ``"language.import"``.
        found: what stands there or what happened, in one sentence.
        remedy: what to write instead, in one sentence.
        line: 1-based line of the file, where there is one.
        column: 1-based column, where there is one.
        severity: ``"refuse"``, or ``"warn"`` for what is worth knowing and keeps nothing out.
    """

    rule: str
    found: str
    remedy: str
    line: int | None = None
    column: int | None = None
    severity: Severity = "refuse"

    def as_dict(self) -> dict[str, Any]:
        """Return the finding as JSON-ready data."""
        return asdict(self)

    def text(self, path: str = "design", source: str | None = None) -> str:
        """Return the finding as a compiler would print it, with the source line where it is known."""
        place = ":".join(str(part) for part in (path, self.line, self.column) if part is not None)
        mark = "warning: " if self.severity == "warn" else ""
        lines = [f"{place}: {mark}{self.found} [{self.rule}]"]
        if source is not None and self.line is not None:
            source_lines = source.splitlines()
            if self.line <= len(source_lines):
                lines.append(f"    {source_lines[self.line - 1].strip()[:160]}")
        lines.append(f"  {self.remedy}")
        return "\n".join(printable(line, keep="\t") for line in lines)


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why a design was refused: one finding at least, all of one stage together."""

    findings: tuple[Finding, ...]

    def text(self, path: str = "design", source: str | None = None) -> str:
        """Return all findings as text, one paragraph each."""
        return "\n".join(finding.text(path, source) for finding in self.findings)
