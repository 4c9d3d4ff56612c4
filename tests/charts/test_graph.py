"""Graphs: every edge is drawn from box to box, nothing lies on anything else, and words are never markup."""

from __future__ import annotations

from itertools import combinations, pairwise
from pathlib import Path
from xml.etree import ElementTree as Tree

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from spade_envs.charts import Box, graph
from spade_envs.charts.layers import HIGH, WIDE, Edge, Layout, laid_out

GOLDEN = Path(__file__).with_name("family.svg")
SVG = "{http://www.w3.org/2000/svg}"
EVIL = "</svg><script>alert(1)</script> & \" ' <img src=x onerror=alert(1)> \x00\u202e\ud800 ]]>"


@st.composite
def graphs(draw: st.DrawFn) -> tuple[dict[str, int], list[Edge]]:
    keys = [f"k{number}" for number in range(draw(st.integers(1, 12)))]
    columns = {key: draw(st.integers(-3, 3)) for key in keys}
    edges = draw(st.lists(st.tuples(st.sampled_from(keys), st.sampled_from(keys)), max_size=20))
    return columns, edges


def family() -> str:
    boxes = (
        Box("x", 0, ("Lamp row", "LampRow-v1", "active"), kind="here"),
        Box("a", -1, ("Lamp row", "LampRow-v0", "retired, 2 more above"), "/environments/LampRow-v0"),
        Box("lost", -1, ("Gone-v3", "no registry holds it"), kind="lost"),
        Box("b", 1, ("A title that is much longer than any box is wide", "Long-v0", "active"), "/b"),
        Box("c", 1, ("A < B & C", "Less-v0", "too hard"), "/c?x=1&y=2"),
        Box("d", 2, ("Both", "Both-v0", "admitted"), "/d"),
    )
    edges = {
        ("a", "x"),
        ("lost", "x"),
        ("x", "b"),
        ("x", "c"),
        ("b", "d"),
        ("c", "d"),
        ("d", "a"),
        ("a", "d"),
    }
    return graph("The family", "two above, three below", boxes, edges)


def test_the_picture_is_as_it_was_looked_at() -> None:
    assert family() == GOLDEN.read_text("utf-8").rstrip("\n")


def apart(layout: Layout) -> None:
    for (x, y), (other_x, other_y) in combinations(layout.places.values(), 2):
        assert abs(x - other_x) >= WIDE or abs(y - other_y) >= HIGH
    for x, y in layout.places.values():
        assert 0 <= x <= layout.width - WIDE
        assert 0 <= y <= layout.height - HIGH


def crosses(layout: Layout, edge: Edge) -> bool:
    """Whether a straight part of an edge that goes around lies in a box."""
    route = layout.routes[edge]
    for (x, y), (to_x, to_y) in pairwise(route):
        for left, top in layout.places.values():
            across = min(x, to_x) < left + WIDE and max(x, to_x) > left
            if across and min(y, to_y) < top + HIGH and max(y, to_y) > top:
                return True
    return False


@given(graphs())
def test_every_edge_goes_from_box_to_box_and_nothing_overlaps(
    given: tuple[dict[str, int], list[Edge]],
) -> None:
    columns, edges = given
    layout = laid_out(columns, edges)
    assert layout.places.keys() == columns.keys()
    apart(layout)
    assert layout.routes.keys() == set(edges)
    for (one, other), route in layout.routes.items():
        x, y = layout.places[one]
        assert route[0] == (x + WIDE, y + HIGH / 2)
        x, y = layout.places[other]
        assert route[-1] == (x, y + HIGH / 2)
        assert all(0 <= x <= layout.width and 0 <= y <= layout.height for x, y in route)
        if len(route) == 2:
            assert route[0][0] < route[1][0], "a curve goes through a gutter"
        else:
            assert not crosses(layout, (one, other))


@given(graphs())
def test_columns_stand_in_their_order(given: tuple[dict[str, int], list[Edge]]) -> None:
    columns, edges = given
    places = laid_out(columns, edges).places
    for one, other in combinations(columns, 2):
        assert (places[one][0] < places[other][0]) == (columns[one] < columns[other])


@examples(max_examples=40)
@given(graphs(), st.text(max_size=200), st.text(max_size=200) | st.just(EVIL))
def test_any_words_stay_words(given: tuple[dict[str, int], list[Edge]], title: str, line: str) -> None:
    columns, edges = given
    boxes = [Box(key, column, (line, title, EVIL), f"/{line}") for key, column in columns.items()]
    text = graph(title, line, boxes, edges)
    root = Tree.fromstring(text)
    drawn = {one.tag.removeprefix(SVG) for one in root.iter()}
    assert drawn <= {*("svg", "title", "desc", "defs", "clipPath"), *("rect", "g", "path", "a", "text")}
    assert all(
        name not in ("style", "id") or one.tag != f"{SVG}a" for one in root.iter() for name in one.attrib
    )
    assert len(root.findall(f".//{SVG}a")) == len(boxes)
    assert len([one for one in root.iter() if one.get("class", "").startswith("edge")]) == len(set(edges))
    assert "\u202e" not in text
    assert max((len(one.text or "") for one in root.iter(f"{SVG}text")), default=0) <= 80


def test_a_strict_policy_has_nothing_to_forbid() -> None:
    for one in Tree.fromstring(family()).iter():
        assert not {name for name in one.attrib if name == "style" or name.startswith("on")}
        assert "}style" not in one.tag
        assert not [
            value for value in one.attrib.values() if "url(" in value and not value.startswith("url(#g")
        ]


def test_two_graphs_share_no_id() -> None:
    ids = [
        {one.get("id") for one in Tree.fromstring(text).iter()} - {None}
        for text in (family(), graph("The family", "another", (Box("x", 0, ("x",)),), ()))
    ]
    assert ids[0]
    assert not ids[0] & ids[1]


@pytest.mark.parametrize("boxes", [(), (Box("x", 0, ()),), (Box("x", 5, ("one",)), Box("y", 9, ("two",)))])
def test_little_is_drawn_as_well(boxes: tuple[Box, ...]) -> None:
    assert Tree.fromstring(graph("t", "d", boxes, ())).tag == f"{SVG}svg"
