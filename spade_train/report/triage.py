"""Which subsystem holds a run back: checks in the order in which one spoils the next, from the designer on."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from spade_train.report import checks
from spade_train.report.values import RunFacts
from spade_train.report.verdict import Finding, Verdict


class Check(NamedTuple):
    """One check; its question is the first line of its function's docstring."""

    name: str
    subsystem: str
    look: Callable[[RunFacts], checks.Result]

    @property
    def asks(self) -> str:
        """The question."""
        return (self.look.__doc__ or "").strip()


CHECKS = (
    Check("designs", "designer", checks.designs),
    Check("gates", "admission's gates", checks.gates),
    Check("difficulty", "difficulty", checks.difficulty),
    Check("regret", "hints and regret", checks.regret),
    Check("agent", "agent's learning", checks.agent),
    Check("curriculum", "curriculum", checks.curriculum),
    Check("held-out", "generalisation", checks.held_out),
    Check("forgetting", "replay", checks.forgetting),
    Check("machine", "episodes and machine", checks.machine),
    Check("watch", "watch over the designer", checks.watch),
)


def triage(run: RunFacts) -> tuple[Verdict, ...]:
    """Return what each check came to. The first finding is often the cause of those below it."""
    return tuple(Verdict(one.name, one.subsystem, one.asks, one.look(run)) for one in CHECKS)


def holds_back(verdicts: tuple[Verdict, ...]) -> Verdict | None:
    """Return what holds the run back: the first finding that does; None where there is none."""
    return next((one for one in verdicts if one.state == "holds back"), None)


def findings(run: RunFacts) -> tuple[tuple[str, Finding], ...]:
    """Return name and finding of each check that has one."""
    return tuple((one.check, one.found) for one in triage(run) if isinstance(one.found, Finding))
