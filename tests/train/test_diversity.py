"""How various designs are: effective numbers with known values, and rounds that tell them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spade_envs import behaviour_key, registries, shared_trees, tree_key
from spade_train.designer.slots import render, templates
from spade_train.diversity import Diversity, diversity, inverse_simpson, unlike_others, vendi
from spade_train.reports import report_of

HUNT = templates()["hunt"].examples[0]
FOX = render(HUNT, 0)
SHIP = render({**HUNT, "title": "Lost Ship", "thing": "ship"}, 0)
WALK = render(templates()["walk"].examples[0], 0)


def test_effective_numbers_of_known_values() -> None:
    assert inverse_simpson([]) == vendi(np.zeros((0, 0))) == 0
    assert [inverse_simpson("aaaa"), vendi(np.ones((4, 4)))] == pytest.approx([1, 1])
    assert [inverse_simpson("abcd"), vendi(np.eye(4))] == pytest.approx([4, 4])
    assert inverse_simpson("aaab") == pytest.approx(1 / (9 / 16 + 1 / 16))
    half = np.array([[1, 0.5], [0.5, 1]])
    assert vendi(half) == pytest.approx(math.exp(-(0.75 * math.log(0.75) + 0.25 * math.log(0.25))))


@given(st.lists(st.sampled_from("abcde"), min_size=1, max_size=20))
def test_the_effective_number_lies_between_one_and_the_distinct(labels: list[str]) -> None:
    found = inverse_simpson(labels)
    assert 1 - 1e-9 <= found <= len(set(labels)) + 1e-9
    assert found == pytest.approx(inverse_simpson(labels * 3)), "it counts shares, not designs"
    blocks = np.array([[float(a == b) for a in labels] for b in labels])
    assert vendi(blocks) <= len(set(labels)) + 1e-6


def test_trees_are_shared_by_copies_alone() -> None:
    shares = shared_trees([FOX, SHIP, WALK, "no python ("])
    assert shares[0, 1] == 1.0
    assert shares[0, 2] < 0.6
    assert shares[3].tolist() == [0, 0, 0, 1]
    assert np.array_equal(shares, shares.T)
    assert np.linalg.eigvalsh(shares).min() > -1e-9
    assert tree_key(FOX) == tree_key(SHIP) != tree_key(WALK)
    assert tree_key("no python (") is None
    assert shared_trees([]).shape == (0, 0)


def test_a_round_is_counted() -> None:
    shipped = str(registries()[0].ids()[0])
    found = diversity([(FOX, None), (SHIP, report_of(shipped)), (WALK, {"gates": []})])
    assert (found.designs, found.trees, found.ideas, found.behaviours, found.domains) == (3, 2, 2, 1, 2)
    assert found.effective_ideas == pytest.approx(1 / (4 / 9 + 1 / 9))
    assert 1.5 < found.effective_trees < 2
    assert found.text().startswith("3 designs: 2 ideas (effectively 1.8), 2 syntax trees")
    assert Diversity(**found.as_dict()) == found
    assert diversity([]) == Diversity()
    assert diversity([("no python (", None)]).trees == 1


def test_shipped_environments_behave_each_in_its_own_way() -> None:
    keys = [behaviour_key(report_of(str(env_id)) or {}) for env_id in registries()[0].ids()]
    assert None not in keys
    assert len(set(keys)) == len(keys)
    assert behaviour_key({}) is None


def test_who_is_unlike_the_others_of_its_block_earns_more() -> None:
    copy, other_copy, alone, nothing = unlike_others([FOX, SHIP, WALK, None])
    assert copy == other_copy < alone < 1
    assert nothing == 0
    assert unlike_others([FOX]) == [1.0]
    assert unlike_others([None, None]) == [0.0, 0.0]
    assert unlike_others([FOX, FOX]) == [0.0, 0.0]
