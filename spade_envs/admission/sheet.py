"""A gate's verdict, and the sheet on which a gate notes what it saw and found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from spade_envs.admission.evidence import Episode, Level
from spade_envs.admission.rates import wilson
from spade_envs.admission.severity import severity_of
from spade_envs.contract.findings import Finding
from spade_envs.contract.plain import plain


@dataclass(frozen=True, slots=True)
class GateResult:
    """A gate's verdict.

    Attributes:
        name: the gate.
        passed: whether nothing was found that refuses.
        saw: numbers behind the verdict; ``episode`` is the first failing one as seed and actions.
        findings: what is wrong and how to mend it.
    """

    name: str
    passed: bool
    saw: dict[str, Any] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the result as JSON-ready data."""
        found = [finding.as_dict() for finding in self.findings]
        return {"name": self.name, "passed": self.passed, "saw": plain(self.saw), "findings": found}


class Sheet:
    """A gate's notes: what it saw and found."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.saw: dict[str, Any] = {}
        self.findings: list[Finding] = []

    def fail(
        self, rule: str, found: str, remedy: str, episode: Episode | None = None, line: int | None = None
    ) -> None:
        """Note a finding; the first episode that shows one is kept so that it can be played again."""
        if episode is not None:
            found = f"{found} ({place(episode)})"
            self.saw.setdefault("episode", replay(episode))
        self.findings.append(Finding(rule, found, remedy, line, severity=severity_of(rule)))

    def breaches(self, episodes: Iterable[Episode], remedy: str) -> None:
        """Note each kind of breach once, with the first episode that shows it."""
        seen: set[str] = set()
        for episode in episodes:
            for rule, found in episode.breaches:
                if rule not in seen:
                    seen.add(rule)
                    self.fail(rule, found, remedy, episode)

    @property
    def refuses(self) -> bool:
        """Whether something was found that keeps the design out."""
        return any(finding.severity == "refuse" for finding in self.findings)

    def result(self) -> GateResult:
        """Return the verdict."""
        return GateResult(self.name, not self.refuses, self.saw, tuple(self.findings))


def place(episode: Episode) -> str:
    """Say which episode it was, in a few words."""
    level = "" if episode.level is None else f"level {episode.level}, "
    return f"{level}seed {episode.seed}, {episode.policy}, step {len(episode.actions)}"


def replay(episode: Episode) -> dict[str, Any]:
    """Return what is needed to play an episode again."""
    return {
        "policy": episode.policy,
        "level": episode.level,
        "seed": episode.seed,
        "actions": plain(list(episode.actions)),
    }


def label(what: str, level: Level) -> str:
    """Return the name of a number that is seen once per level."""
    return what if level is None else f"{what}, level {level}"


def rate(won: int, played: int) -> str:
    """Return a rate with its 95 % interval."""
    low, high = wilson(won, played)
    return f"{won}/{played} [{low:.2f}, {high:.2f}]"
