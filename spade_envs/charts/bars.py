"""Bars: parts of a whole over rounds, and a funnel of what is left from stage to stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from spade_envs.charts.drawing import LETTER, SIZE, draw, label, legend, nothing, shown_name, whole_ticks
from spade_envs.charts.palette import INK, look

MOST_BARS = 40
"""How many bars can be told apart."""


@dataclass(frozen=True)
class Stack:
    """One part of every bar, not negative: as many values as there are bars."""

    name: str
    values: tuple[float, ...]


@lru_cache(maxsize=256)
def stacked_bars(
    title: str,
    desc: str,
    xs: tuple[float, ...],
    parts: tuple[Stack, ...],
    *,
    x: str = "round",
    y: str = "",
    size: tuple[float, float] = SIZE,
) -> str:
    """Return upright bars, their parts upon each other from the first one up, as SVG text.

    Of more than :data:`MOST_BARS` bars neighbours are drawn as one, of their mean height.
    """
    many = -(-len(xs) // MOST_BARS) if xs else 1
    names = [part.name for part in parts]

    def plot(axes: Axes) -> None:
        if not any(value for part in parts for value in part.values):
            nothing(axes)
            return
        places = [fmean(xs[at : at + many]) for at in range(0, len(xs), many)]
        below = [0.0] * len(places)
        for number, part in enumerate(parts):
            heights = [fmean(part.values[at : at + many]) for at in range(0, len(xs), many)]
            _bars(axes, places, heights, below, number, part.name, 0.8 * many)
            below = [low + high for low, high in zip(below, heights, strict=True)]
        whole_ticks(axes)
        axes.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
        label(axes, x, y)
        legend(axes, names, size)

    return draw(title, desc, plot, size, names=names)


def _bars(
    axes: Axes,
    places: list[float],
    heights: list[float],
    below: list[float],
    number: int,
    name: str,
    width: float,
) -> None:
    colour, _, _, hatch = look(number)
    seen = [at for at, height in enumerate(heights) if height] or [0]  # one at least, so that it has its name
    axes.bar(
        [places[at] for at in seen],
        [heights[at] for at in seen],
        bottom=[below[at] for at in seen],
        width=width,
        color=colour,
        hatch=hatch,
        edgecolor=INK,
        linewidth=0.3,
        clip_on=False,
        label=shown_name(name),
    )


@lru_cache(maxsize=256)
def funnel_chart(title: str, desc: str, stages: tuple[tuple[str, int], ...]) -> str:
    """Return one lying bar a stage, the first one above, each with its count and its share of the first one's."""

    def plot(axes: Axes) -> None:
        if not any(count for _, count in stages):
            nothing(axes)
            return
        _lying(axes, stages)

    size = (SIZE[0], 0.3 + 0.38 * max(3, len(stages)))
    longest = max((len(shown_name(name)) for name, _ in stages), default=0)
    return draw(title, desc, plot, size, left=0.25 + LETTER * longest, below=0.1)


def _lying(axes: Axes, stages: Sequence[tuple[str, int]]) -> None:
    counts = [count for _, count in stages]
    bars = axes.barh(range(len(stages)), counts, color=look(0).colour, height=0.7)
    whole = counts[0]
    shares = [
        f" {count}" + (f" ({count / whole:.0%})" if whole and at else "") for at, count in enumerate(counts)
    ]
    axes.bar_label(bars, shares)
    axes.set_yticks(range(len(stages)), [shown_name(name) for name, _ in stages])
    axes.set_xlim(0, 1.25 * max(counts))
    axes.invert_yaxis()
    axes.grid(visible=False)
    axes.xaxis.set_visible(False)
    axes.spines["bottom"].set_visible(False)
