"""Designs made outside of training, as they go on record: every reply and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

from spade_envs import Finding, Report
from spade_train.designer import Draft

Stage = Literal["asked", "answered", "read", "compiled", "ran", "admitted"]
STAGES: tuple[Stage, ...] = get_args(Stage)
"""How far a design comes: each stage holds those before."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One reply and what became of it.

    Attributes:
        reply: None where the backend gave none.
        stage: the last stage that it passed.
        findings: what keeps it from the next one.
        prompt_tokens, completion_tokens: as the backend counts them, a plan's among them.
        distance: to the nearest environment, in [0, 1], where it was compared.
        variant: of what it is a near duplicate and names it as its source, and what differs; None for what is new.
    """

    reply: str | None
    stage: Stage
    prompt_sha256: str
    draft: Draft | None = None
    findings: tuple[Finding, ...] = ()
    prompt_tokens: int = 0
    completion_tokens: int = 0
    distance: float | None = None
    variant: str | None = None
    env_id: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the attempt as JSON-ready data."""
        return {
            "reply": self.reply,
            "stage": self.stage,
            "prompt_sha256": self.prompt_sha256,
            "source": self.draft.source if self.draft else None,
            "mends": list(self.draft.mends) if self.draft else [],
            "findings": [finding.as_dict() for finding in self.findings],
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "distance": self.distance,
            "variant": self.variant,
            "env_id": self.env_id,
        }


@dataclass(frozen=True, slots=True)
class Drafted:
    """One design with all its attempts, the first reply first."""

    way: str
    document: str | None
    parents: tuple[str, ...]
    attempts: tuple[Attempt, ...]

    @property
    def env_id(self) -> str | None:
        """Return the id that it was admitted under, if it was."""
        return self.attempts[-1].env_id

    def as_dict(self) -> dict[str, Any]:
        """Return the design as JSON-ready data."""
        attempts = [attempt.as_dict() for attempt in self.attempts]
        made = {"way": self.way, "document": self.document, "parents": list(self.parents)}
        return {**made, "env_id": self.env_id, "attempts": attempts}


def stage_of(report: Report) -> Stage:
    """Return the last stage that a judged design passed."""
    failed = {gate.name for gate in report.gates if not gate.passed}
    if not failed:
        return "admitted"
    return "read" if "form" in failed else "compiled" if "runs" in failed else "ran"
