"""Every round's batch has the same rows, and each role learns when its turn comes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spade_train.schedule import Kind, RoundPlan, Schedule

KINDS: tuple[Kind, ...] = ("joint", "alternate", "designer_frozen", "agent_frozen")

schedules = st.builds(
    Schedule,
    kind=st.sampled_from(KINDS),
    group=st.integers(2, 8),
    seeds=st.integers(1, 4),
    every=st.integers(1, 5),
    designs=st.booleans(),
).filter(lambda one: one.designs or one.kind != "agent_frozen")  # nobody would learn


def rows(plan: RoundPlan, group: int) -> int:
    agent = (plan.blocks + plan.fillers) * group if plan.agent_learns else 0
    return agent + plan.designs * plan.designer_learns


@given(schedules, st.integers(0, 50))
def test_every_round_fills_the_batch(schedule: Schedule, number: int) -> None:
    plan = schedule.plan(number)
    assert rows(plan, schedule.group) == schedule.rows == schedule.blocks * schedule.group
    assert plan.designs in (0, schedule.group)
    assert plan.blocks == plan.designs * schedule.seeds


@pytest.mark.parametrize(
    ("schedule", "turns"),
    [
        (Schedule("joint", 2), [True] * 6),
        (Schedule("alternate", 2, every=3), [True, False, False, True, False, False]),
        (Schedule("designer_frozen", 2), [False] * 6),
        (Schedule("agent_frozen", 2), [True] * 6),
        (Schedule("joint", 2, designs=False), [False] * 6),
    ],
)
def test_the_designer_learns_when_its_turn_comes(schedule: Schedule, turns: list[bool]) -> None:
    assert [schedule.plan(n).designer_learns for n in range(6)] == turns


def test_who_is_frozen_still_works() -> None:
    assert Schedule("designer_frozen", 3).plan(0) == RoundPlan(3, False, 3, 1)
    assert Schedule("agent_frozen", 3).plan(0) == RoundPlan(3, True, 3, 0, agent_learns=False)
    assert Schedule("joint", 3, designs=False).plan(0) == RoundPlan(0, False, 0, 4)
