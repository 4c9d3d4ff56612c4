"""Lines over a number, each with the band of its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from matplotlib.axes import Axes

from spade_envs.charts.drawing import SIZE, draw, finite, label, legend, nothing, shown_name, whole_ticks
from spade_envs.charts.palette import look

Known = tuple[float | None, ...]

MOST_POINTS = 150
"""Of longer lines this many points are drawn, evenly picked, and the last one."""

_MARKED = 40


@dataclass(frozen=True)
class Line:
    """One line.

    Attributes:
        xs: ascending.
        ys: as many; None leaves a gap.
        low, high: the ends of each point's interval, as many or none at all.
    """

    name: str
    xs: tuple[float, ...]
    ys: Known
    low: Known = ()
    high: Known = ()

    def thinned(self) -> Line:
        """Return the line with at most :data:`MOST_POINTS` points and one more."""
        if len(self.xs) <= MOST_POINTS:
            return self
        last = len(self.xs) - 1
        keep = [*range(0, last, math.ceil(last / MOST_POINTS)), last]
        parts = (tuple(part[i] for i in keep) if part else () for part in (self.ys, self.low, self.high))
        return Line(self.name, tuple(self.xs[i] for i in keep), *parts)


@lru_cache(maxsize=256)
def line_chart(
    title: str,
    desc: str,
    lines: tuple[Line, ...],
    *,
    x: str = "round",
    y: str = "",
    limits: tuple[float | None, float | None] = (None, None),
    size: tuple[float, float] = SIZE,
) -> str:
    """Return lines as SVG text.

    Args:
        title, desc: for screen readers.
        x, y: names of the axes.
        limits: the ends of the upright axis; None leaves one to the values.
        size: inches.
    """
    shown = [one.thinned() for one in lines if any(not math.isnan(value) for value in finite(one.ys))]
    names = [one.name for one in shown]

    def plot(axes: Axes) -> None:
        if not shown:
            nothing(axes)
            return
        for number, one in enumerate(shown):
            _plot(axes, one, number)
        axes.set_ylim(*limits)
        whole_ticks(axes)
        label(axes, x, y)
        legend(axes, names, size)

    return draw(title, desc, plot, size, names=names)


def _plot(axes: Axes, line: Line, number: int) -> None:
    colour, dash, marker, _ = look(number)
    if line.low and line.high:
        low, high = finite(line.low), finite(line.high)
        axes.fill_between(line.xs, low, high, color=colour, alpha=0.18, linewidth=0)
    marks = marker if len(line.xs) <= _MARKED else ""
    axes.plot(
        line.xs,
        finite(line.ys),
        color=colour,
        linestyle=dash,
        marker=marks,
        markersize=4,
        label=shown_name(line.name),
    )
