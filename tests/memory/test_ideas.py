"""Ideas: two designs of one idea are told as one, and hand-written environments are never confused."""

from __future__ import annotations

import re
from itertools import combinations
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from spade_envs import seeds_folder
from spade_train.designer.slots import render, templates
from spade_train.memory.ideas import SAME, Idea, alike, keys, stems

HUNT = templates()["hunt"].examples[0]


def test_forms_of_a_word_are_one_and_common_words_count_for_nothing() -> None:
    assert stems("Sorting the boxes; plans are placed") == stems("sort: box, planning, place") != frozenset()
    assert stems("Every agent plays in an environment") == stems("plays")
    assert stems("Guess the 37 numbers!") == stems("guesses, number")
    assert stems("Сортируй числа") == {"сортируй", "числа"}


def test_other_names_and_numbers_are_the_same_idea() -> None:
    fox, ship = (
        Idea.of(render({**HUNT, "title": title, "thing": thing, "numbers": numbers}, 0))
        for title, thing, numbers in (("Fox Den", "fox", 20), ("Lost Ship", "ship", 40))
    )
    assert fox is not None
    assert ship is not None
    assert alike(fox, ship) >= SAME
    assert keys([fox, ship], {}) == [fox.key, fox.key]


def test_the_same_tree_is_the_same_idea_whatever_its_summary_says() -> None:
    source = render(HUNT, 0)
    other = re.sub(r'# summary = ".*"', '# summary = "Paint every fence of a long garden."', source)
    one, two = Idea.of(source), Idea.of(other)
    assert one is not None
    assert two is not None
    assert one.words.isdisjoint(two.words)
    assert alike(one, two) == 1.0


def test_no_two_hand_written_environments_have_one_idea() -> None:
    ideas = [Idea.of(path.read_text()) for path in sorted(seeds_folder().glob("**/*.py"))]
    likest = max(alike(one, other) for one, other in combinations([one for one in ideas if one], 2))
    assert len(ideas) > 30
    assert likest < SAME / 2, "the line lies far from honest designs"


def test_what_cannot_be_read_has_no_idea() -> None:
    assert Idea.of("no header") is None
    assert Idea().key == ""
    assert keys([None, Idea(), Idea()], {}) == [None, None, None]


def test_the_likest_known_idea_gives_its_key() -> None:
    new = Idea(frozenset("abcd"))
    near, nearer = Idea(frozenset("abcx")), Idea(frozenset("abcd"), "tree")
    assert keys([new], {"far": [Idea(frozenset("xyz"))], "near": [near], "nearer": [near, nearer]}) == [
        "nearer"
    ]
    assert keys([new], {"far": [Idea(frozenset("xyz"))]}) == [new.key]


@given(st.lists(st.frozensets(st.sampled_from("abcde"), min_size=1).map(Idea), max_size=12))
def test_keys_given_one_by_one_are_those_given_together(ideas: list[Idea]) -> None:
    known: dict[str, list[Idea]] = {}
    for idea, key in zip(ideas, keys(ideas, {}), strict=True):
        assert keys([idea], known) == [key]
        known.setdefault(str(key), []).append(idea)


@given(st.randoms(use_true_random=False))
def test_likeness_is_symmetric_and_bounded(rng: Random) -> None:
    one, other = (
        Idea(frozenset(rng.sample("abcdef", rng.randint(0, 4))), rng.choice("xy")) for _ in range(2)
    )
    assert alike(one, other) == alike(other, one)
    assert 0 <= alike(one, other) <= alike(one, one)
