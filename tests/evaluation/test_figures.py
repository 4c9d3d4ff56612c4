"""Figures of plays: by hand, by property, and how often their intervals hold what they should."""

from __future__ import annotations

import random
from dataclasses import replace
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spade_train.evaluation import Item, Try, figures, paired, rates
from spade_train.evaluation.figures import Tries, mean_of_items
from spade_train.rewards.uncertainty import Tally

WON = Try(True, 1.0, True, 2, 10, "terminated")
LOST = replace(WON, success=False, return_=0.0, turns=5)
FAULT = replace(LOST, counts=False, end="fault")

TRIES = st.dictionaries(
    st.builds(Item, st.sampled_from("abcdefgh"), st.integers(0, 3)),
    st.lists(st.sampled_from([WON, LOST, FAULT]), min_size=1, max_size=4),
    max_size=8,
)


def plays(*rows: str) -> Tries:
    """Each row is an item; + a success, - a failure, ! a fault."""
    kinds = {"+": WON, "-": LOST, "!": FAULT}
    return {Item("e", n): [kinds[letter] for letter in row] for n, row in enumerate(rows)}


def test_by_hand() -> None:
    found = figures(plays("++", "+-", "-+", "--", "!!", "!+"))
    assert (found.items, found.plays, found.left_out, found.k) == (5, 9, 3, 1)
    found = figures(plays("++", "+-", "-+", "--"))
    assert found.pass_1 is not None
    assert found.avg_k is not None
    assert (found.pass_1.value, found.avg_k.value) == (0.5, 0.5)
    assert (found.pass_k, found.every_k, found.agreement) == (0.75, 0.25, 0.5)
    assert found.steps == 2.0
    assert figures(plays("+++-")).pass_k == 1.0
    assert figures({}).avg_k is None
    assert figures(plays("!")).left_out == 1


@given(TRIES)
def test_figures_lie_where_they_can(tries: Tries) -> None:
    found = figures(tries)
    assert found.plays + found.left_out == sum(map(len, tries.values()))
    for one in (found.pass_1, found.avg_k):
        if one is not None:
            assert 0 <= one.low <= one.value <= one.high <= 1
            assert one.high > one.low
    if found.avg_k is not None and found.pass_k is not None and found.every_k is not None:
        assert found.every_k <= found.pass_k + 1e-12
    assert figures(dict(reversed(tries.items()))).pass_k == pytest.approx(found.pass_k)


@given(TRIES, TRIES)
def test_a_pair_is_the_other_way_round(one: Tries, other: Tries) -> None:
    mine, theirs = rates(one), rates(other)
    gain, loss = paired(mine, theirs), paired(theirs, mine)
    assert (gain is None) == (not set(mine) & set(theirs))
    if gain is not None and loss is not None:
        assert gain.value == pytest.approx(-loss.value)
        assert -1 <= gain.low <= gain.value <= gain.high <= 1


def test_nothing_differs_is_not_surely_nothing() -> None:
    same = {f"i{n}": Tally(1, 2) for n in range(10)}
    gain = paired(same, same)
    assert gain is not None
    assert (gain.value, gain.low < -0.2, gain.high > 0.2) == (0.0, True, True)


@pytest.mark.parametrize(("items", "chance"), [(20, 0.5), (50, 0.2), (50, 0.02)])
def test_intervals_hold_the_truth_about_as_often_as_they_say(items: int, chance: float) -> None:
    rng = random.Random(0)
    held = []
    for _ in range(120):
        values = [fmean(rng.random() < chance for _ in range(4)) for _ in range(items)]
        one = mean_of_items(values)
        held.append(one.low <= chance <= one.high)
    assert fmean(held) > 0.85
