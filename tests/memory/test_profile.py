"""The agent's profile by skill, the target skill, the pool's figures."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spade_envs.records import Measured
from spade_train.memory import Facts, Memory, SkillProfile, choose_target, statistics, worth
from spade_train.memory.profile import ROUNDS, SKILLS, Practice, profiles, season

SKILLS_OF = {"A": ("sorting", "memory"), "B": ("sorting",)}


def measured(
    name: str, plays: int, success: float | None, hinted: float | None = None, regret: float | None = None
) -> Measured:
    return Measured(
        name, "run", 0, plays, plays if hinted is not None else 0, 0, None, success, hinted, regret
    )


def test_each_environment_counts_for_all_of_its_skills() -> None:
    found = season(
        [measured("A", 4, 0.25, 0.5, 0.25), measured("B", 8, 1.0), measured("C", 8, 1.0)], SKILLS_OF
    )
    assert found == {"memory": Practice(4, 1, 4, 2, 0.25, 1), "sorting": Practice(12, 9, 4, 2, 0.25, 1)}


def test_the_weakest_stands_first_and_the_trend_is_late_less_early() -> None:
    early = season([measured("A", 4, 0.0, 0.5, 0.5)], SKILLS_OF)
    late = season([measured("A", 4, 0.5, 0.5, 0.0), measured("B", 8, 1.0, 1.0, 0.0)], SKILLS_OF)
    memory, sorting = profiles([early, late])
    assert memory == SkillProfile("memory", 8, 0.25, 0.5, 0.25, 0.5)
    assert (sorting.skill, sorting.plays, sorting.trend) == ("sorting", 16, pytest.approx(10 / 12))
    assert profiles([late])[0].trend is None
    assert profiles([]) == ()


def test_only_the_last_rounds_count_and_few_skills_of_each() -> None:
    memory = Memory()
    for number in range(3 * ROUNDS):
        skills = {"A": [f"skill{k:03}" for k in range(2 * SKILLS)]}
        memory.learn(number, [measured("A", 2, 0.5 if number < 2 * ROUNDS else 1.0)], skills)
    found = memory.profile()
    assert (len(found), {one.plays for one in found}, {one.success for one in found}) == (
        SKILLS,
        {2 * ROUNDS},
        {1.0},
    )


def test_a_round_that_is_played_again_counts_once() -> None:
    memory = Memory()
    for _ in range(2):
        memory.learn(1, [measured("A", 4, 0.5)], SKILLS_OF)
    assert {one.plays for one in memory.profile()} == {4}


def test_weak_skills_and_skills_with_regret_are_drawn_in_proportion() -> None:
    profile = [
        SkillProfile("weak", 98, 0.0),
        SkillProfile("strong", 98, 1.0),
        SkillProfile("near", 98, 0.5, 1.0, 0.5),
    ]
    assert [worth(one) for one in profile] == pytest.approx([0.99, 0.01, 1.0])
    drawn = Counter(one.skill for n in range(600) if (one := choose_target(profile, Random(n))))
    assert drawn["strong"] < 25
    assert 200 < drawn["weak"] < 400
    assert 200 < drawn["near"] < 400
    assert choose_target([], Random(0)) is None
    misled = SkillProfile("misled", 8, 0.5, 0.0, -0.5)
    assert worth(misled) == misled.weakness, "hints that mislead take nothing away"


@given(
    st.lists(
        st.builds(
            SkillProfile,
            st.text(),
            st.integers(1, 99),
            st.floats(0, 1),
            st.none(),
            st.none() | st.floats(-2, 2),
        ),
        min_size=1,
        max_size=9,
    ),
    st.integers(),
)
def test_a_target_is_one_of_the_profile_and_follows_from_the_seed(
    profile: list[SkillProfile], seed: int
) -> None:
    found = choose_target(profile, Random(seed))
    assert found in profile
    assert found == choose_target(profile, Random(seed))
    assert all(worth(one) > 0 for one in profile)


def test_the_pool_is_counted() -> None:
    active = {"A": Facts("games", ("x", "y"), 0.5), "B": Facts("math", ("x",), None), "C": None}
    found = statistics(active, ["active", "mastered", "mastered", "too_hard", "quarantined"])
    assert (found.active, found.mastered, found.too_hard, found.difficulty) == (3, 2, 1, 0.5)
    assert list(found.domains.items()) == [("games", 1), ("math", 1)]
    assert list(found.skills.items()) == [("x", 2), ("y", 1)]
    assert statistics({}, []).difficulty is None
