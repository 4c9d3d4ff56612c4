"""Charts: the same values give the same picture, fit for a strict policy, for the dark and without colour."""

from __future__ import annotations

import inspect
import math
import subprocess
import sys
from itertools import combinations
from xml.etree import ElementTree as Tree

import pytest
from hypothesis import example, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from spade_envs.charts import (
    PALETTE,
    Line,
    Stack,
    funnel_chart,
    heat_map,
    line_chart,
    sparkline,
    stacked_bars,
)
from spade_envs.charts import drawing as frame

ROUNDS = (1.0, 2.0, 3.0)
EVIL = "</svg><script>alert(1)</script> & $x^2$ \x00\u202e"


def lines(name: str = "success", title: str = "Success", **more: object) -> str:
    line = Line(name, ROUNDS, (0.2, None, 0.6), (0.1, None, 0.5), (0.3, None, 0.7))
    other = Line("with the hint", ROUNDS, (0.5, 0.6, 0.7))
    return line_chart(title, "how often", (line, other), **more)


def every_kind(text: str = "x") -> list[str]:
    return [
        lines(text, text),
        stacked_bars(
            text, text, ROUNDS, (Stack(text, (1, 2, 3)), Stack("b", (3, 0, 1)), Stack("c", (1, 1, 1)))
        ),
        funnel_chart(text, text, ((text, 8), ("admitted", 2))),
        heat_map(text, text, (1, 2, 3), (0.0, 0.5, 1.0), ((1, 2), (0, 3), (4, 0))),
        line_chart(text, text, ()),
        sparkline([0.1, 0.9], text),
    ]


@pytest.mark.parametrize("chart", every_kind(), ids=range(6))
def test_a_strict_policy_has_nothing_to_forbid(chart: str) -> None:
    root = Tree.fromstring(chart)
    for element in root.iter():
        assert element.tag.rpartition("}")[2] not in ("style", "script", "image", "metadata", "foreignObject")
        assert "style" not in element.attrib
        for name, value in element.attrib.items():
            assert name.startswith("{") is False, "an attribute of another name space"
            assert "url(" not in value or value.startswith("url(#")
            assert "http" not in value


def test_charts_on_one_page_share_no_id_and_refer_to_their_own_only() -> None:
    ids = [
        [one.get("id") for one in Tree.fromstring(chart).iter() if one.get("id")] for chart in every_kind()
    ]
    for one, other in combinations(ids, 2):
        assert not set(one) & set(other)
    chart = lines()
    own = {one.get("id") for one in Tree.fromstring(chart).iter()}
    links = {
        v.partition("#")[2].rstrip(")")
        for e in Tree.fromstring(chart).iter()
        for v in e.attrib.values()
        if "#" in v
    }
    assert {link for link in links if not _is_colour(link)} <= own


def _is_colour(text: str) -> bool:
    return len(text) == 6 and all(c in "0123456789abcdef" for c in text)


def test_text_stays_text_and_says_what_the_picture_is() -> None:
    root = Tree.fromstring(lines())
    said = [one.text for one in root.iter() if one.text]
    assert said[:2] == ["Success", "how often"]
    assert {"round", "success", "with the hint"} <= set(said)
    named = {one.get("id") for one in root}
    assert set(root.attrib["aria-labelledby"].split()) <= named


@pytest.mark.parametrize("chart", every_kind(EVIL), ids=range(6))
def test_what_strangers_wrote_is_text(chart: str) -> None:
    root = Tree.fromstring(chart)
    assert "script" not in {one.tag.rpartition("}")[2] for one in root.iter()}
    assert "<script" not in chart
    assert "\u202e" not in chart


def test_the_same_values_give_the_same_picture_in_any_process() -> None:
    imports = "from __future__ import annotations\nfrom spade_envs.charts import Line, line_chart\n"
    code = f"{imports}ROUNDS = {ROUNDS}\n{inspect.getsource(lines)}\nprint(lines(), end='')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    line_chart.cache_clear()
    assert lines() == done.stdout


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("page", ["#ffffff", "#111111"])
def test_every_colour_stands_out_from_the_page(page: str) -> None:
    for one in PALETTE:
        high, low = sorted((luminance(one.colour), luminance(page)), reverse=True)
        assert (high + 0.05) / (low + 0.05) >= 3, one


def test_series_differ_without_colour() -> None:
    assert len({one.dash for one in PALETTE}) == len({one.marker for one in PALETTE}) == len(PALETTE)
    assert len({one.hatch for one in PALETTE}) == len(PALETTE)


def test_what_is_black_in_the_picture_is_the_pages_own_colour() -> None:
    for chart in every_kind()[:5]:
        assert "#010203" not in chart
        assert 'fill="currentColor"' in chart
        assert "#000000" not in chart


def test_a_gap_is_a_gap_and_a_lonely_point_is_seen() -> None:
    chart = line_chart("t", "d", (Line("a", (1.0, 2.0, 3.0), (0.5, None, 0.5)),))
    assert (
        chart.count("<use") - line_chart("t", "d", (Line("a", ROUNDS, (0.5, 0.5, 0.5)),)).count("<use") == -1
    )


def test_what_is_too_much_for_a_picture_is_thinned() -> None:
    many = tuple(map(float, range(20_000)))
    wave = tuple(math.sin(x / 300) for x in many)
    assert len(line_chart("t", "d", (Line("a", many, wave, wave, wave),))) < 60_000
    assert len(stacked_bars("t", "d", many, (Stack("a", many), Stack("b", many)))) < 60_000
    assert len(heat_map("t", "d", tuple(range(20_000)), (0, 0.5, 1), ((1, 2),) * 20_000)) < 60_000
    thin = Line("a", many, wave).thinned()
    assert (thin.xs[0], thin.xs[-1]) == (many[0], many[-1])


number = st.none() | st.floats(allow_nan=True, allow_infinity=True)


@given(st.lists(number, max_size=80), number, number)
@example([0.0], -math.inf, None)
@example([0.0], None, math.nan)
@example([1.7e308, -1.7e308], None, None)
def test_a_sparkline_stays_in_its_frame(
    values: list[float | None], low: float | None, high: float | None
) -> None:
    drawn = sparkline(values, "a", low=low, high=high)
    known = [v for v in values if v is not None and math.isfinite(v)]
    assert bool(drawn) == bool(known)
    if drawn:
        points = Tree.fromstring(drawn)[0].attrib["points"].split()
        assert len(points) == min(60, len(known))
        for x, y in (map(float, point.split(",")) for point in points):
            assert 0 <= x <= 96
            assert 0 <= y <= 20


@examples(max_examples=8)
@given(st.lists(number, min_size=1, max_size=6))
def test_any_numbers_make_a_whole_picture(values: list[float | None]) -> None:
    small = tuple(v if v is None or abs(v) < 1e100 or not math.isfinite(v) else 1.0 for v in values)
    xs = tuple(float(i) for i in range(len(small)))
    root = Tree.fromstring(line_chart("t", "d", (Line("a", xs, small, small, small),)))
    assert "nan" not in {value.lower() for one in root.iter() for value in one.attrib.values()}


def test_the_settings_of_others_are_left_alone() -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    frame.draw("t", "d", frame.nothing)
    assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ((1e-9, 3e-9, 2e-9), "loss (× 1e−9)"),  # noqa: RUF001 (as text is set)
        ((2e7, 5e7, 1e7), "loss (× 1e7)"),  # noqa: RUF001
        ((1000.0001, 1000.0002, 1000.0003), "loss (+1e3)"),
        ((0.1, 0.2, 0.3), "loss"),
    ],
)
def test_a_power_of_ten_stands_in_the_axis_name(values: tuple[float, ...], name: str) -> None:
    root = Tree.fromstring(line_chart("t", "d", (Line("a", ROUNDS, values),), y="loss"))
    said = [one.text for one in root.iter() if one.text]
    assert name in said
    assert [one for one in said if "1e" in one] == [name] * (name != "loss")
