"""A heat map: how often what happened, in each column. Counts stand in the cells where there is room."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.colors import to_rgba

from spade_envs.charts.drawing import SIZE, draw, label, nothing, whole_ticks
from spade_envs.charts.palette import INK, look

MOST_COLUMNS = 40
_NUMBERED = 24
"""The most columns whose cells have room for a number."""


class Cell(NamedTuple):
    """Where a cell lies, in the axes' own measures."""

    left: float
    right: float
    low: float
    high: float


@lru_cache(maxsize=256)
def heat_map(
    title: str,
    desc: str,
    xs: tuple[int, ...],
    edges: tuple[float, ...],
    counts: tuple[tuple[int, ...], ...],
    *,
    x: str = "round",
    y: str = "",
) -> str:
    """Return a histogram over rounds as SVG text.

    Args:
        title, desc: for screen readers.
        xs: whole numbers, ascending: one a column.
        edges: of the bins, ascending: one more than there are.
        counts: of each column, of each bin from the lowest up.
        x, y: names of the axes.

    Of more than :data:`MOST_COLUMNS` columns neighbours are drawn as one, with all that they count.
    """
    many = -(-len(xs) // MOST_COLUMNS) if xs else 1
    groups = [range(at, min(at + many, len(xs))) for at in range(0, len(xs), many)]
    joined = [tuple(map(sum, zip(*(counts[i] for i in group), strict=True))) for group in groups]
    most = max((count for column in joined for count in column), default=0)

    def plot(axes: Axes) -> None:
        if not most:
            nothing(axes)
            return
        for group, column in zip(groups, joined, strict=True):
            left, right = xs[group[0]] - 0.5, xs[group[-1]] + 0.5
            for low, high, count in zip(edges[:-1], edges[1:], column, strict=True):
                if count:
                    place = Cell(left, right, low, high)
                    _cell(axes, place, count, most, numbered=len(groups) <= _NUMBERED)
        axes.set_xlim(min(xs) - 0.5, max(xs) + 0.5)
        axes.set_ylim(edges[0], edges[-1])
        axes.set_yticks(edges)
        whole_ticks(axes)
        label(axes, x, y)

    return draw(title, desc, plot, SIZE)


def _cell(axes: Axes, place: Cell, count: int, most: int, *, numbered: bool) -> None:
    left, right, low, high = place
    colour = to_rgba(look(0).colour, 0.12 + 0.48 * count / most)
    axes.bar(
        left,
        high - low,
        width=right - left,
        bottom=low,
        color=colour,
        linewidth=0,
        align="edge",
        clip_on=False,
    )
    if numbered:
        middle = (left + right) / 2, (low + high) / 2
        axes.text(*middle, str(count), ha="center", va="center", fontsize=8, color=INK)
