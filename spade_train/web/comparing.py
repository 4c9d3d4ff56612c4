"""Runs beside each other: where their settings differ, their curves in one chart, their figures. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from spade_envs.charts import Line, line_chart
from spade_train.report.figures import Figure, final
from spade_train.report.pictures import Picture
from spade_train.report.series import regret, success
from spade_train.report.tables import Table
from spade_train.report.values import RoundFacts, RunFacts
from spade_train.rewards.uncertainty import Estimate

MOST = 6
"""How many runs have looks of their own in a chart."""

BANDED = 3
"""Of how many runs bands can be told apart."""

_PLACES = ("runs", "run_name", "output_dir", "logging_dir", "max_steps", "gradient_accumulation_steps")
"""Settings that differ between any two runs, or follow from others."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The page.

    Attributes:
        names: of the runs.
        settings: those that differ, one row a setting.
        figures: one row a figure, one column a run.
        pictures: one chart a curve.
    """

    names: tuple[str, ...]
    settings: Table
    figures: Table
    pictures: tuple[Picture, ...]
    values: tuple[tuple[Figure, ...], ...]

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data, without the charts."""
        return {
            "runs": list(self.names),
            "settings": {row[0]: dict(zip(self.names, row[1:], strict=True)) for row in self.settings.rows},
            "figures": {
                name: [one.as_dict() for one in of_run]
                for name, of_run in zip(self.names, self.values, strict=True)
            },
        }


def compare(runs: Mapping[str, RunFacts]) -> Comparison:
    """Return runs beside each other, by name."""
    names = tuple(runs)
    values = tuple(final(run) for run in runs.values())
    return Comparison(
        names,
        Table(
            "Settings that differ", ("setting", *names), tuple(differing(list(runs.values()))), 1 + len(names)
        ),
        Table("Figures", ("figure", *names), tuple(_beside(values)), 1),
        tuple(draw(runs) for draw in CURVES),
        values,
    )


def differing(runs: list[RunFacts]) -> list[tuple[str, ...]]:
    """Return a row for each setting that is not the same in all runs: its name, and its value in each."""
    names = sorted({name for run in runs for name in run.settings} - set(_PLACES))
    rows = [(name, *(_said(run.settings, name) for run in runs)) for name in names]
    return [row for row in rows if len(set(row[1:])) > 1]


def _said(settings: Mapping[str, Any], name: str) -> str:
    return str(settings[name])[:200] if name in settings else "-"


def _beside(values: tuple[tuple[Figure, ...], ...]) -> list[tuple[str, ...]]:
    names = dict.fromkeys(one.name for of_run in values for one in of_run)
    known = [{one.name: one for one in of_run} for of_run in values]
    return [(name, *(_cell(of_run.get(name)) for of_run in known)) for name in names]


def _cell(one: Figure | None) -> str:
    if one is None or one.value is None:
        return "-"
    return one.text if one.interval == "-" else f"{one.text} {one.interval}"


def _curve(
    name: str,
    title: str,
    note: str,
    figure: Callable[[RoundFacts], Estimate | None],
    limits: tuple[float | None, float | None] = (None, None),
) -> Callable[[Mapping[str, RunFacts]], Picture]:
    def draw(runs: Mapping[str, RunFacts]) -> Picture:
        lines = tuple(_line(run_name, run, figure) for run_name, run in runs.items())
        if len(lines) > BANDED:
            lines = tuple(replace(one, low=(), high=()) for one in lines)
        desc = f"{title} of {', '.join(runs)}"
        return Picture(name, title, note, line_chart(title, desc, lines, y=title.lower(), limits=limits))

    return draw


def _line(name: str, run: RunFacts, figure: Callable[[RoundFacts], Estimate | None]) -> Line:
    points = [(one.number + 1, value) for one in run.done if (value := figure(one)) is not None]
    ends = (tuple(getattr(value, end) for _, value in points) for end in ("value", "low", "high"))
    return Line(name, tuple(float(at) for at, _ in points), *ends)


def _exact(value: float | None) -> Estimate | None:
    return None if value is None else Estimate(value, value, value)


CURVES = (
    _curve("success", "Success", "Without the hint, with 95 % intervals.", success, (0.0, 1.0)),
    _curve("regret", "Regret", "Of new designs.", regret),
    _curve("reward", "Agent's reward", "Mean of its rows.", lambda one: _exact(one.agent_reward)),
    _curve(
        "admitted",
        "Admitted designs",
        "Of each round that designed.",
        lambda one: _exact(float(one.designs.admitted)) if one.designs.asked else None,
        (0.0, None),
    ),
    _curve("ideas", "Effective ideas", "Of a round's designs.", lambda one: _exact(one.ideas), (0.0, None)),
)
