"""How far a run is, and how long it will take. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from spade_train.report.values import RunFacts

LATELY = 5
"""Rounds that the next ones are reckoned to be like."""


@dataclass(frozen=True, slots=True)
class Progress:
    """A run's progress.

    Attributes:
        done, planned: rounds; ``planned`` is None where it is unknown.
        seconds_left: until the last round; None where nothing is going on, or nothing is known.
        idle: seconds since the run has last written something; None where it has not.
    """

    state: str
    done: int
    planned: int | None
    seconds_left: float | None
    idle: float | None

    @property
    def share(self) -> float:
        """How much is done, from 0 to 1."""
        return min(1.0, self.done / self.planned) if self.planned else 0.0

    @property
    def left(self) -> str:
        """The time left in words; nothing where it is not known."""
        return "" if self.seconds_left is None else f"about {said(self.seconds_left)} left"


def progress(run: RunFacts) -> Progress:
    """Return how far a run is."""
    view = run.view
    took = [sum(one.seconds.values()) for one in run.done[-LATELY:] if one.seconds]
    left = None
    if view.state == "running" and took and view.planned is not None:
        left = max(0.0, median(took) * (view.planned - view.done) - (run.age or 0.0))
    return Progress(view.state, view.done, view.planned, left, run.age)


def said(seconds: float) -> str:
    """Return a time in words, as exactly as is of use."""
    if seconds < 90:
        return f"{seconds:.0f} seconds"
    if seconds < 5400:
        return f"{seconds / 60:.0f} minutes"
    if seconds < 129_600:
        return f"{seconds / 3600:.1f} hours"
    return f"{seconds / 86_400:.1f} days"
