"""Which findings refuse a design and which only warn: a policy with a version, apart from what is found."""

from __future__ import annotations

from spade_envs.contract.findings import Severity

GATE_POLICY_VERSION = 5
"""Changes with any change of what is played, where a line is drawn, or what a finding means."""

# What a person should look at: a short way, a task that may be copying, matter that may be made up.
_WARNINGS = frozenset(
    {
        "solvable.peeks",
        "difficulty.alike",
        "short-cut.observation",
        "content.address",
        "content.phone",
        "content.violence",
    }
)


def severity_of(rule: str) -> Severity:
    """Return what a finding with this rule does to a design."""
    return "warn" if rule in _WARNINGS else "refuse"
