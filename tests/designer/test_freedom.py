"""Freedom grows as the admitted share does, shrinks where nothing is admitted, and can be kept."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from spade_train.designer.freedom import Freedom, fixed
from spade_train.designer.ways import WAYS

rounds = st.lists(st.lists(st.booleans(), min_size=1, max_size=8), max_size=40)


def played(freedom: Freedom, outcomes: list[list[bool]]) -> Freedom:
    for admitted in outcomes:
        freedom = freedom.after(admitted)
    return freedom


def test_it_climbs_a_step_for_each_good_window_and_stops_at_the_top() -> None:
    freedom = Freedom(window=8)
    ways = [freedom.way]
    for _ in range(12):
        freedom = freedom.after([True] * 4)
        ways.append(freedom.way)
    assert ways[:5] == ["slots", "slots", "edit", "edit", "compose"]
    assert ways[-1] == "free"


def test_it_comes_down_where_little_is_admitted_and_stays_between() -> None:
    high = Freedom(place=3, window=8)
    assert high.after([False] * 7 + [True]).way == "compose"
    assert high.after([False] * 7).way == "two_stage"  # too few to judge
    assert high.after([True, False] * 4).way == "two_stage"


@given(rounds)
def test_it_stays_on_its_ladder_and_goes_on_from_its_state(outcomes: list[list[bool]]) -> None:
    freedom = played(Freedom(window=8), outcomes)
    assert freedom.way in WAYS
    assert len(freedom.recent) <= 8
    kept = json.loads(json.dumps(freedom.state()))
    assert Freedom(window=8).resumed(kept) == freedom


@given(rounds)
def test_a_fixed_way_stays(outcomes: list[list[bool]]) -> None:
    assert played(fixed("edit"), outcomes).way == "edit"


def test_a_state_of_another_ladder_begins_anew() -> None:
    assert Freedom(("edit", "free")).resumed({"way": "slots", "recent": []}).way == "edit"
    assert Freedom(("edit", "free")).resumed({}).way == "edit"
