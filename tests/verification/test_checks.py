"""The checks are pure functions: each is shown values that were made up."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from gymnasium import spaces

from spade_envs.admission import GateResult, Report
from spade_envs.admission.evidence import Episode, Evidence, Fault
from spade_envs.admission.report import current_versions
from spade_envs.contract import Finding, Header, Rejection, code_sha256, file_sha256, parse_header
from spade_envs.contract.ids import EnvId
from spade_envs.isolation import InstanceInfo
from spade_envs.registry.integrity import Missing, Reading, examined
from spade_envs.verification import Gathered, checked, judged

SOURCE = """# /// spade
# id = "spade/Made-v2"
# title = "Made up"
# summary = "For tests of verify; never run."
# domain = "games"
# skills = ["testing"]
# origin = "seed"
# max_episode_steps = 5
# license = "MIT"
# contract = 1
# ///
"""
HEADER = parse_header(SOURCE)
assert isinstance(HEADER, Header)
SAW: dict[str, Any] = {
    "rules": "Wait.",
    "tools": 0,
    "observation space": "Discrete(3)",
    "action space": "Discrete(2)",
}
HASHES = {"file_sha256": file_sha256(SOURCE), "code_sha256": code_sha256(SOURCE)}
REPORT: dict[str, Any] = {"admitted": True, "gates": [{"name": "form", "saw": SAW}], **HASHES}
INSTANCE = InstanceInfo(0, spaces.Discrete(3), spaces.Discrete(2), "Wait.", None, [], {}, True)
WON = Episode("expert", None, 0, (1, 1), 1.0, terminated=True, success=True)
SEEN = Evidence(HEADER, instances={None: INSTANCE}, episodes=[Episode("reset", None, 0), WON])


def rules(findings: tuple[Finding, ...]) -> list[tuple[str, str]]:
    return [(finding.rule, finding.severity) for finding in findings]


def gathered(report: Any = REPORT, evidence: Evidence | None = SEEN) -> Gathered:
    return Gathered(Reading(SOURCE, HEADER, report, ()), evidence)


def test_what_is_as_it_was_is_sound() -> None:
    assert checked(gathered()) == ()
    assert list(judged(REPORT, Report("spade/Made-v2", "", (GateResult("form", True),), 0.0))) == []


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("rules", "Hurry.", "its rules is 'Wait.', the report has 'Hurry.'"),
        ("tools", 1, "its number of tools is 0, the report has 1"),
        ("observation space", "Discrete(4)", "its observation space is 'Discrete(3)'"),
        ("action space", "Discrete(3)", "its action space is 'Discrete(2)', the report has 'Discrete(3)'"),
    ],
)
def test_what_the_gate_on_form_noted_is_compared(key: str, value: Any, says: str) -> None:
    report = {**REPORT, "gates": [{"name": "form", "saw": {**SAW, key: value}}]}
    (finding,) = checked(gathered(report))
    assert finding.rule == "verify.form"
    assert says in finding.found


@pytest.mark.parametrize(
    "report",
    [None, {}, {"gates": None}, {"gates": [3]}, {"gates": [{"name": "form", "saw": []}]}, {"gates": 5}],
)
def test_what_a_report_lacks_is_said_and_is_no_fault(report: Any) -> None:
    assert rules(checked(gathered(report))) == [("verify.not-recorded", "warn")]
    (finding,) = judged(report, Report("spade/Made-v2", "", (GateResult("form", True),), 0.0))
    assert (finding.rule, finding.severity) == ("verify.not-recorded", "warn")


def test_of_one_lack_only_that_is_said() -> None:
    saw = {key: value for key, value in SAW.items() if key != "tools"}
    (finding,) = checked(gathered({**REPORT, "gates": [{"name": "form", "saw": saw}]}))
    assert "no record of its number of tools: " in finding.found


def test_an_expert_that_loses() -> None:
    lost = replace(WON, seed=1, success=False)
    (finding,) = checked(gathered(evidence=replace(SEEN, episodes=[WON, lost])))
    assert finding.rule == "solvable.expert"
    assert "fails on 1 of 2 seeds (seed 1, expert, step 2)" in finding.found
    assert finding.remedy.startswith("Retire the version")


def test_what_no_longer_compiles_and_what_is_stopped() -> None:
    refusal = Finding("language.import", "`os` cannot be imported.", "Leave it out.", 3)
    evidence = Evidence(HEADER, rejection=Rejection((refusal,)))
    (finding,) = checked(gathered(evidence=evidence))
    assert (finding.rule, finding.line) == ("language.import", 3)
    assert finding.remedy.startswith("Retire the version")
    stopped = replace(WON, fault=Fault("raised", "step: ValueError"), success=False)
    found = checked(gathered(evidence=replace(SEEN, episodes=[stopped])))
    assert rules(found) == [("runs.raised", "refuse")]


def test_what_has_changed_since_is_said_with_what_differs() -> None:
    now = current_versions()
    report = {
        **REPORT,
        "gates": [{"name": "form", "saw": {**SAW, "tools": 1}}],
        "versions": {**now, "policy": "0", "numpy": "1.0"},
    }
    (finding,) = checked(gathered(report))
    assert finding.found.endswith(f"(policy 0 then, {now['policy']} now; numpy 1.0 then, {now['numpy']} now)")


def test_another_verdict() -> None:
    leak = Finding("hint.leak", "the hint tells", "Do not tell.")
    warning = Finding("solvable.peeks", "it peeks", "Look.", severity="warn")
    refused = Report("spade/Made-v2", "", (GateResult("hint", False, {}, (warning, leak)),), 0.0)
    (finding,) = judged(REPORT, refused)
    assert finding.rule == "verify.verdict"
    assert finding.found == "it was admitted, today it is refused at 'hint'; the hint tells [hint.leak]"
    (finding,) = judged({"admitted": False}, Report("spade/Made-v2", "", (), 0.0))
    assert finding.found == "it was refused, today it is admitted"
    assert list(judged({"admitted": False}, refused)) == []


def reading(source: bytes | Missing, report: bytes | Missing, number: int = 2) -> Reading:
    return examined(EnvId("Made", number), source, report)


def test_a_reading_says_everything_at_once() -> None:
    """A missing hash of the code only warns: older reports lack it."""
    text = SOURCE.encode()
    found = reading(text, b'{"file_sha256": "0"}', 3)
    assert rules(found.findings) == [
        ("files.hash", "refuse"),
        ("files.no-hash", "warn"),
        ("files.place", "refuse"),
    ]
    assert len(found.faults) == 2
    assert (found.source, found.header) == (SOURCE, HEADER)
    found = reading(Missing("is missing"), Missing("is missing"))
    assert [finding.found for finding in found.findings] == ["v2.py is missing", "v2.json is missing"]
    assert (found.source, found.header, found.report) == (None, None, None)
    assert checked(Gathered(found, None)) == found.findings
    (alone,) = reading(Missing("is missing"), b"{}").findings
    assert "a write was cut off here" in alone.remedy
