"""The frame of every picture: matplotlib's SVG, drawn off screen, made fit for a page."""

from __future__ import annotations

import io
import math
import threading
from collections.abc import Callable, Sequence
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from spade_envs.charts.palette import INK
from spade_envs.charts.svg import page_svg
from spade_envs.contract.printable import printable

SIZE = (6.4, 2.9)
"""Inches; 72 units of the picture each."""

_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "spade",
    "text.parse_math": False,
    "font.size": 10,
    "font.family": "DejaVu Sans",  # it comes with matplotlib: the same measures on every machine
    "hatch.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.alpha": 0.18,
    "grid.linewidth": 0.6,
    **dict.fromkeys(
        ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color", "grid.color"), INK
    ),
}
_DRAWING = threading.Lock()
"""matplotlib's settings are the process's."""


def draw(title: str, desc: str, plot: Callable[[Axes], None], size: tuple[float, float] = SIZE) -> str:
    """Return a picture as SVG text.

    Args:
        title, desc: what a screen reader says; the title stands above the picture on the page, too, not in it.
        plot: draws into the axes.
        size: width and height in inches.
    """
    with _DRAWING, matplotlib.rc_context(_SETTINGS):
        figure = Figure(figsize=size, layout="constrained")
        plot(figure.add_subplot())
        text = io.StringIO()
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return page_svg(text.getvalue(), printable(title), printable(desc))


def legend(axes: Axes, entries: int) -> None:
    """Name the series above the plot, where there are several."""
    if entries > 1:
        axes.legend(
            loc="lower left", bbox_to_anchor=(0, 1), ncols=4, frameon=False, borderaxespad=0, fontsize=9
        )


def label(axes: Axes, x: str, y: str) -> None:
    """Name the axes."""
    axes.set_xlabel(printable(x))
    axes.set_ylabel(printable(y))


def whole_ticks(axes: Axes) -> None:
    """Put ticks below the plot on whole numbers only."""
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=12))


def nothing(axes: Axes) -> None:
    """Say that there is nothing to draw."""
    axes.set_axis_off()
    axes.text(0.5, 0.5, "nothing to show yet", ha="center", va="center", transform=axes.transAxes)


def finite(values: Sequence[float | None]) -> list[float]:
    """Return values as matplotlib wants them: NaN, which it leaves out, for what is not known or not finite."""
    return [value if value is not None and math.isfinite(value) else math.nan for value in values]
