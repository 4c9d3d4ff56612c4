"""What is wrong with a version: pure functions over what was gathered of it.

The gates that admitted it look at the new evidence; here their sheets are held against the report. What an older
report lacks is said, and is no fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from spade_envs.admission import gates
from spade_envs.admission.evidence import Evidence
from spade_envs.admission.report import Report, current_versions, gates_of
from spade_envs.admission.settings import Settings
from spade_envs.admission.sheet import Sheet
from spade_envs.contract.findings import Finding
from spade_envs.verification.evidence import Gathered

MEND = (
    "Retire the version, and admit a mended source as a new one; or go back to the versions that admitted it."
)
DECLARED = {
    "rules": "rules",
    "tools": "number of tools",
    "observation space": "observation space",
    "action space": "action space",
}
"""What the gate on form notes of an instance, in the order of the report, and in words."""

Check = Callable[[Gathered], Iterator[Finding]]


def checked(gathered: Gathered) -> tuple[Finding, ...]:
    """Return everything that is wrong with a version, and what its report lacks (that only warns)."""
    return tuple(finding for check in CHECKS for finding in check(gathered))


def judged(recorded: Mapping[str, Any] | None, now: Report) -> Iterator[Finding]:
    """Compare the verdict of all gates today with the recorded one."""
    before = (recorded or {}).get("admitted")
    if not isinstance(before, bool):
        yield _lacks("a verdict")
    elif before != now.admitted:
        reasons = [f"{finding.found} [{finding.rule}]" for finding in now.refusing]
        found = "; ".join(
            [f"it was {'admitted' if before else 'refused'}, today it is {now.verdict}", *reasons]
        )
        yield Finding("verify.verdict", found + _since(recorded), MEND)


def files(gathered: Gathered) -> Iterator[Finding]:
    """Both files can be read, hold the recorded hashes, and stand in their place."""
    yield from gathered.reading.findings


def runs(gathered: Gathered) -> Iterator[Finding]:
    """It compiles under the present policy, starts in a worker, and nothing stops an episode."""
    if gathered.evidence is None:
        return
    sheet = Sheet("runs")
    gates.faults(gathered.evidence, sheet)
    refused = gathered.evidence.rejection.findings if gathered.evidence.rejection else ()
    for finding in (*refused, *sheet.findings):
        yield replace(finding, found=finding.found + _since(gathered.reading.report), remedy=MEND)


def declared(gathered: Gathered) -> Iterator[Finding]:
    """Its rules, tools and spaces are those that the gate on form noted."""
    seen = _form(gathered.evidence)
    if not seen:
        return
    before = _saw(gathered.reading.report, "form")
    for key, name in DECLARED.items():
        if key in before and before[key] != seen[key]:
            found = f"its {name} is {_short(seen[key])}, the report has {_short(before[key])}"
            yield Finding("verify.form", found + _since(gathered.reading.report), MEND)
    if missing := [name for key, name in DECLARED.items() if key not in before]:
        yield _lacks(f"its {', '.join(missing)}")


def solved(gathered: Gathered) -> Iterator[Finding]:
    """Its expert still succeeds within the time limit; what was stopped is said elsewhere."""
    evidence = gathered.evidence
    if evidence is None or any(episode.fault for episode in evidence.episodes):
        return
    sheet = Sheet("solvable")
    gates.solvable(evidence, Settings(), sheet)
    for finding in sheet.findings:
        if finding.severity == "refuse":
            yield replace(finding, found=finding.found + _since(gathered.reading.report), remedy=MEND)


CHECKS: tuple[Check, ...] = (files, runs, declared, solved)


def _form(evidence: Evidence | None) -> dict[str, Any]:
    """Return what the gate on form notes today; nothing where no instance was built."""
    if evidence is None or not evidence.instances:
        return {}
    sheet = Sheet("form")
    gates.form(evidence, Settings(), sheet)
    return sheet.saw


def _saw(report: Mapping[str, Any] | None, name: str) -> Mapping[str, Any]:
    """Return what a gate saw when the version was admitted."""
    saw = next((gate.get("saw") for gate in gates_of(report) if gate.get("name") == name), None)
    return saw if isinstance(saw, dict) else {}


def _lacks(what: str) -> Finding:
    found = f"the report has no record of {what}: there is nothing to compare with"
    return Finding("verify.not-recorded", found, "Nothing need be done.", severity="warn")


def _since(report: Mapping[str, Any] | None) -> str:
    """Say which versions of what a verdict depends on have changed since."""
    before = (report or {}).get("versions")
    before = before if isinstance(before, dict) else {}
    changed = [
        f"{name} {before[name]} then, {now} now"
        for name, now in current_versions().items()
        if name in before and str(before[name]) != now
    ]
    return f" ({'; '.join(changed)})" if changed else ""


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
