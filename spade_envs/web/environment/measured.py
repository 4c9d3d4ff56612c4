"""What runs measured of an environment, as charts and as a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from spade_envs.charts import Line, line_chart
from spade_envs.records import Measured
from spade_envs.registry.history import history
from spade_envs.registry.stack import Stack
from spade_envs.web.environment.subject import Head, Subject

SHOWN = 200
"""How many measurements the table has; their JSON has all."""


@dataclass(frozen=True, slots=True)
class Measures:
    """The page.

    Attributes:
        measured: of every run and round, the oldest first.
        faults: how many episodes ended in a fault, in all.
    """

    head: Head
    measured: tuple[Measured, ...]

    @property
    def faults(self) -> int:
        """How many episodes ended in a fault and did not count, in all."""
        return sum(one.faults for one in self.measured)

    @property
    def shown(self) -> tuple[Measured, ...]:
        """The last ones, the newest first."""
        return self.measured[: -SHOWN - 1 : -1]

    @property
    def charts(self) -> tuple[Markup, ...]:
        """Pictures of it, from numbers and this file's own words."""
        return Markup(success_chart(self)), Markup(regret_chart(self))

    def as_dict(self) -> dict[str, Any]:
        """Return the page as JSON-ready data."""
        return {
            "head": self.head,
            "measured": [one.as_dict() for one in self.measured],
            "faults": self.faults,
        }


def measures(one: Subject, stack: Stack) -> Measures:
    """Return the page. Raises RegistryError where records break while they are read."""
    events = history(one.id, stack, ["measurement"])
    return Measures(one.head, tuple(event.what for event in events if isinstance(event.what, Measured)))


def success_chart(page: Measures) -> str:
    """Return success with and without the hint over the measurements, as SVG text."""
    xs = tuple(float(number) for number in range(1, len(page.measured) + 1))
    lines = (
        Line("without the hint", xs, tuple(one.success for one in page.measured)),
        Line("with the hint", xs, tuple(one.hinted_success for one in page.measured)),
    )
    said = (
        "The share of episodes that reached the goal, measurement by measurement; the table has the numbers."
    )
    return line_chart("Success", said, lines, x="measurement", y="success", limits=(-0.03, 1.03))


def regret_chart(page: Measures) -> str:
    """Return regret with its interval over the measurements, as SVG text."""
    xs = tuple(float(number) for number in range(1, len(page.measured) + 1))
    low = tuple(one.regret_low for one in page.measured)
    high = tuple(one.regret_high for one in page.measured)
    line = Line("regret", xs, tuple(one.regret for one in page.measured), low, high)
    said = "The mean return with the hint minus the one without, with its 95 % interval; the table has the numbers."
    return line_chart("Regret", said, (line,), x="measurement", y="regret")
