"""What a verdict makes of a design."""

from __future__ import annotations

from dataclasses import replace

from spade_envs import Admission, Rejection, Report
from spade_train.designer import Draft
from spade_train.rounds import Design
from spade_train.workshop import hints

Verdict = Report | Admission


def with_source(design: Design, read: Draft | Rejection) -> Design:
    """Return a design with the source that was read from its reply, or refused for what kept it from being read."""
    if isinstance(read, Rejection):
        return replace(design, refusal=read.text(), findings=read.findings)
    return replace(design, source=read.source, mends=read.mends)


def draft_of(design: Design) -> Draft | None:
    """Return what was read of a design, if anything was."""
    return None if design.source is None else Draft(design.source, design.mends)


def passed(verdict: Verdict | None) -> bool:
    """Say whether a design has passed."""
    if isinstance(verdict, Admission):
        return verdict.id is not None
    return verdict is not None and verdict.admitted


def refused(design: Design, verdict: Verdict | None) -> Design:
    """Return a design with what its verdict found, for its repair."""
    if verdict is None:
        return design
    report = verdict.report if isinstance(verdict, Admission) else verdict
    return replace(design, findings=report.refusing, compiled=compiled(report))


def after(before: Design, now: Design) -> Design:
    """Return what the next repair goes on from: the later reply, put into the earlier source where it has none."""
    return now if now.source else replace(before, reply=now.reply or before.reply, findings=now.findings)


def as_row(first: Design, repaired: Design, repairs: int) -> Design:
    """Return the row of the first reply with the source that came of its repair."""
    kept = {
        name: getattr(first, name) for name in ("reply", "prompt_ids", "completion_ids", "mask", "logprobs")
    }
    return replace(repaired, **kept, compiled=first.compiled, repairs=repairs)


def hinted(design: Design, hinted: hints.Hinted) -> Design:
    """Return a design with the hint that a reader wrote, where one did."""
    return replace(design, source=hinted.source, hint=hinted.hint or None)


def settled(design: Design, admission: Admission) -> Design:
    """Return a design as what has become of it."""
    findings = admission.report.refusing
    return replace(
        design,
        compiled=design.compiled if design.repairs else compiled(admission.report),
        refusal=None if admission.id else Rejection(findings).text(),
        findings=() if admission.id else findings,
        env_id=admission.id,
        report=admission.report.as_dict(),
    )


def compiled(report: Report) -> bool:
    """Say whether a judged design is Python that the language allows."""
    return not any(gate.name == "form" for gate in report.gates if not gate.passed)
