"""A graph as SVG text: boxes of words that may be links, in columns, and edges from left to right."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal
from xml.etree import ElementTree as Tree

from spade_envs.charts.layers import HIGH, WIDE, Edge, Layout, Point, laid_out
from spade_envs.charts.svg import SVG
from spade_envs.contract.printable import printable

LONGEST = 80
"""Letters of a line that are written at all; what is wider than its box is cut off there."""
_LEFT, _FIRST, _STEP = 12.0, 19.0, 17.0
"""Where a box's lines begin, its first line, and the next ones below it."""
_AHEAD = 6.0
"""How large the head of an edge is."""


@dataclass(frozen=True, slots=True)
class Box:
    """One box.

    Attributes:
        key: its name among the edges; never shown.
        column: boxes of column 0 come first, the others are ordered after them, outwards.
        lines: what stands in it: a title, and at most two more.
        href: where it leads, if anywhere: an address that the caller has made.
        kind: how it looks: as any, as the one that the graph is about, or as one that is not there.
    """

    key: str
    column: int
    lines: tuple[str, ...]
    href: str | None = None
    kind: Literal["any", "here", "lost"] = "any"


def graph(title: str, desc: str, boxes: Sequence[Box], edges: Collection[Edge]) -> str:
    """Return a graph as SVG text, as large as it is: it is for a place that can be scrolled.

    Its colours are the page's, by the classes ``graph``, ``box``, ``here``, ``lost``, ``edge`` and ``quiet``; without
    a style sheet it has the colour of the text around it.

    Args:
        title, desc: for a screen reader.
        boxes: each with a key of its own.
        edges: (key, key): from whose right side to whose left side. Both are drawn.
    """
    layout = laid_out({box.key: box.column for box in boxes}, edges)
    name = "g" + sha256(repr((title, desc, boxes, sorted(edges))).encode("utf-8", "replace")).hexdigest()[:10]
    root = _root(name, layout)
    for tag, text in (("title", title), ("desc", desc)):
        _add(root, tag, printable(text), id=f"{name}-{tag}")
    _add(_add(_add(root, "defs"), "clipPath", id=f"{name}-box"), "rect", width=WIDE - 8, height=HIGH)
    for edge in sorted(layout.routes):
        _edge(root, layout.routes[edge])
    for box in boxes:
        _box(root, box, layout.places[box.key], f"url(#{name}-box)")
    return Tree.tostring(root, encoding="unicode")


def _root(name: str, layout: Layout) -> Tree.Element:
    width, height = _number(layout.width), _number(layout.height)
    named = {"class": "graph", "role": "group", "aria-labelledby": f"{name}-title {name}-desc"}
    size = {"viewBox": f"0 0 {width} {height}", "width": width, "height": height}
    return Tree.Element(f"{{{SVG}}}svg", named | size | {"fill": "currentColor", "font-size": "13"})


def _edge(root: Tree.Element, points: tuple[Point, ...]) -> None:
    x, y = points[-1]
    end = (x - _AHEAD, y)
    around = len(points) > 2
    way = _corners((*points[:-1], end)) if around else _curve(points[0], end)
    group = _add(root, "g", **{"class": "edge around" if around else "edge"}, stroke="currentColor")
    dashes = {"stroke-dasharray": "5 3"} if around else {}
    _add(group, "path", d=way, fill="none", **dashes)
    head = _corners(((x - _AHEAD, y - _AHEAD / 2), (x, y), (x - _AHEAD, y + _AHEAD / 2)))
    _add(group, "path", d=f"{head}Z", **{"stroke-linejoin": "round"})


def _curve(start: Point, end: Point) -> str:
    middle = (start[0] + end[0]) / 2
    points = ((middle, start[1]), (middle, end[1]), end)
    return f"M{_pair(start)}C{' '.join(map(_pair, points))}"


def _corners(points: Sequence[Point]) -> str:
    return f"M{'L'.join(map(_pair, points))}"


def _box(root: Tree.Element, box: Box, place: Point, clip: str) -> None:
    around = root if box.href is None else _add(root, "a", href=printable(box.href))
    kind = {"class": "box" if box.kind == "any" else f"box {box.kind}"}
    group = _add(around, "g", **kind, transform=f"translate({_pair(place)})")
    seen = [printable(line) for line in box.lines]
    _add(group, "title", "\n".join(seen))
    dashes = {"stroke-dasharray": "4 3"} if box.kind == "lost" else {}
    _add(group, "rect", width=WIDE, height=HIGH, rx=6, fill="none", stroke="currentColor", **dashes)
    words = _add(group, "g", **{"clip-path": clip})
    for number, line in enumerate(seen):
        weight = {"font-weight": "600"} if number == 0 else {"class": "quiet", "font-size": "11.5"}
        shown = line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
        _add(words, "text", shown, x=_LEFT, y=_FIRST + _STEP * number, **weight)


def _add(
    parent: Tree.Element, tag: str, text: str | None = None, /, **attributes: str | float
) -> Tree.Element:
    values = {name: one if isinstance(one, str) else _number(one) for name, one in attributes.items()}
    element = Tree.SubElement(parent, f"{{{SVG}}}{tag}", values)
    element.text = text
    return element


def _pair(point: Point) -> str:
    return f"{_number(point[0])},{_number(point[1])}"


def _number(value: float) -> str:
    return f"{round(value, 1):g}"
