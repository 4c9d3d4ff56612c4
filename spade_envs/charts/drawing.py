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

LEFT, RIGHT, BELOW, ABOVE = 0.68, 0.12, 0.48, 0.12
"""Inches around a plot, for numbers and the axes' names. They are given, since matplotlib's layouts draw twice."""
NAMES, SIGN, LETTER = 0.22, 0.55, 0.07
"""Inches above it for a row of names of series; how wide a name is: its sign, and each letter."""
LONGEST = 40
"""Letters of a name that are shown."""

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


def draw(
    title: str,
    desc: str,
    plot: Callable[[Axes], None],
    size: tuple[float, float] = SIZE,
    *,
    left: float = LEFT,
    below: float = BELOW,
    names: Sequence[str] = (),
) -> str:
    """Return a picture as SVG text.

    Args:
        title, desc: what a screen reader says; the title stands above the picture on the page, too, not in it.
        plot: draws into the axes.
        size: width and height in inches.
        left, below: inches for what stands there.
        names: of the series, where :func:`legend` tells them above.
    """
    width, height = size
    above = ABOVE + NAMES * (-(-len(names) // _columns(names, size)) if len(names) > 1 else 0)
    place = (left / width, below / height, (width - left - RIGHT) / width, (height - below - above) / height)
    with _DRAWING, matplotlib.rc_context(_SETTINGS):
        figure = Figure(figsize=size)
        plot(figure.add_axes(place))
        text = io.StringIO()
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return page_svg(text.getvalue(), printable(title), printable(desc))


def shown_name(name: str) -> str:
    """Return the name of a series as a picture shows it."""
    seen = printable(name)
    return seen if len(seen) <= LONGEST else f"{seen[: LONGEST - 1]}…"


def legend(axes: Axes, names: Sequence[str], size: tuple[float, float] = SIZE) -> None:
    """Name the series above the plot, where there are several."""
    if len(names) > 1:
        axes.legend(
            loc="lower left",
            bbox_to_anchor=(0, 1.01),
            ncols=_columns(names, size),
            frameon=False,
            borderaxespad=0,
            borderpad=0.1,
            fontsize=9,
        )


def _columns(names: Sequence[str], size: tuple[float, float]) -> int:
    """How many names stand in a row."""
    longest = max(len(shown_name(name)) for name in names)
    return max(1, min(4, int((size[0] - LEFT) / (SIGN + LETTER * longest))))


def label(axes: Axes, x: str, y: str) -> None:
    """Name the axes, when all is drawn and all ticks are chosen.

    Numbers beside the plot may be told as multiples of a power of ten; which one stands in the axis' name, since there
    is no room for it above the plot.
    """
    axes.set_xlabel(printable(x))
    axes.set_ylabel(" ".join(part for part in (printable(y), _multiple(axes)) if part))
    axes.yaxis.get_offset_text().set_visible(False)


def _multiple(axes: Axes) -> str:
    """Return what every number at the upright axis is to be multiplied by, and what added; nothing where nothing is."""
    formatter = axes.yaxis.get_major_formatter()
    formatter.set_locs(list(axes.yaxis.get_majorticklocs()))
    offset = formatter.get_offset()
    return f"({'' if offset.startswith('+') else '× '}{offset})" if offset else ""  # noqa: RUF001 (as text is set)


def whole_ticks(axes: Axes) -> None:
    """Put ticks below the plot on whole numbers only."""
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8))


def nothing(axes: Axes) -> None:
    """Say that there is nothing to draw."""
    axes.set_axis_off()
    axes.text(0.5, 0.5, "nothing to show yet", ha="center", va="center", transform=axes.transAxes)


def finite(values: Sequence[float | None]) -> list[float]:
    """Return values as matplotlib wants them: NaN, which it leaves out, for what is not known or not finite."""
    return [value if value is not None and math.isfinite(value) else math.nan for value in values]
