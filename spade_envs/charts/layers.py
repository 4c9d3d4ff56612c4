"""Where the boxes and edges of a graph lie that is drawn in columns, from left to right. Pure functions of numbers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import chain
from statistics import fmean

Edge = tuple[str, str]
Point = tuple[float, float]

WIDE, HIGH = 176.0, 62.0
"""A box."""
GUTTER, BETWEEN = 56.0, 12.0
"""What is free beside a box and below it."""
EDGE = 8.0
"""What is free around everything."""
LANE = 9.0
"""From one edge that goes beneath all boxes to the next."""
_LANES = 8
"""How many such edges leave a box's side apart from each other."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything lies.

    Attributes:
        width, height: of the whole.
        places: of each box its left upper corner.
        routes: of each edge its points, from the right side of its first box to the left side of its second: two of
            them between neighbouring columns; all others go around, beneath every box.
    """

    width: float
    height: float
    places: Mapping[str, Point]
    routes: Mapping[Edge, tuple[Point, ...]]


def laid_out(columns: Mapping[str, int], edges: Collection[Edge]) -> Layout:
    """Return where boxes and edges lie.

    Args:
        columns: of each box its column, in any numbers; what column 0 begins, the others follow.
        edges: pairs of boxes.
    """
    ordered = _ordered(columns, edges)
    rank = {key: number for number, keys in enumerate(ordered.values()) for key in keys}
    around = sorted({edge for edge in edges if rank[edge[1]] - rank[edge[0]] != 1})
    lanes = {edge: number for number, edge in enumerate(around)}
    margin = EDGE + (_side(_LANES) if lanes else 0.0)
    tallest = max(map(len, ordered.values()), default=0)
    places = {
        key: (
            margin + rank[key] * (WIDE + GUTTER),
            EDGE + (row + (tallest - len(keys)) / 2) * (HIGH + BETWEEN),
        )
        for keys in ordered.values()
        for row, key in enumerate(keys)
    }
    floor = EDGE + tallest * (HIGH + BETWEEN)
    return Layout(
        2 * margin + len(ordered) * (WIDE + GUTTER) - GUTTER,
        floor + LANE * len(lanes) + EDGE,
        places,
        {
            edge: (_from(places[edge[0]]), *_beneath(places, edge, lanes, floor), _to(places[edge[1]]))
            for edge in edges
        },
    )


def _ordered(columns: Mapping[str, int], edges: Collection[Edge]) -> dict[int, list[str]]:
    """Return the boxes column by column, from column 0 outwards each beside what it is joined to."""
    found: dict[int, list[str]] = {}
    for key, column in columns.items():
        found.setdefault(column, []).append(key)
    joined: dict[str, list[str]] = {key: [] for key in columns}
    for one, other in edges:
        joined[one].append(other)
        joined[other].append(one)
    right = sorted(column for column in found if column > 0)
    left = sorted((column for column in found if column < 0), reverse=True)
    for inner, outer in chain(zip([0, *right], right, strict=False), zip([0, *left], left, strict=False)):
        row = {key: number for number, key in enumerate(found.get(inner, ()))}
        found[outer].sort(key=lambda key: fmean([row[o] for o in joined[key] if o in row] or [len(row)]))
    return dict(sorted(found.items()))


def _side(number: int) -> float:
    """Return how far from a box's side an edge turns that goes beneath all boxes."""
    return 12.0 + 5.0 * number


def _from(place: Point) -> Point:
    return place[0] + WIDE, place[1] + HIGH / 2


def _to(place: Point) -> Point:
    return place[0], place[1] + HIGH / 2


def _beneath(
    places: Mapping[str, Point], edge: Edge, lanes: Mapping[Edge, int], floor: float
) -> tuple[Point, ...]:
    if edge not in lanes:
        return ()
    (x, y), (to_x, to_y) = _from(places[edge[0]]), _to(places[edge[1]])
    side, lane = _side(lanes[edge] % _LANES), floor + LANE * lanes[edge]
    return (x + side, y), (x + side, lane), (to_x - side, lane), (to_x - side, to_y)
