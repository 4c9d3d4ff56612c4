"""The templates' rules, played: each rule does what the docstring that it writes says."""

from __future__ import annotations

import inspect
from itertools import product
from typing import Any

import gymnasium as gym
import pytest
from rules import every_rule

from spade_train.designer.slots import Template, render, templates


def build(template: str, **slots: Any) -> Any:
    """Run the source as ordinary Python, as a stranger without this package would."""
    namespace: dict[str, Any] = {}
    exec(render(templates()[template].examples[0] | slots, 0), namespace)  # trusted: our own template
    classes = [c for c in namespace.values() if inspect.isclass(c) and issubclass(c, gym.Env)]
    return classes[0]()


def won(env: Any, *actions: int) -> list[bool]:
    """After each action: whether the goal has been reached. The last one must end the episode."""
    outcomes = []
    for action in actions:
        _, _, terminated, truncated, info = env.step(action)
        assert not truncated
        assert info["is_success"] <= terminated
        outcomes.append(info["is_success"])
    assert terminated
    return outcomes


@pytest.mark.parametrize("template", templates().values(), ids=list(templates()))
def test_the_expert_succeeds_under_every_rule(template: Template) -> None:
    for spec in every_rule(template):
        env = build(**spec)
        for seed in range(5):
            observation, total, terminated = env.reset(seed=seed)[0], 0.0, False
            for _ in range(40):
                assert 0 < len(observation) <= env.observation_space.max_length
                assert 0 < len(env.hint().split()) < 40
                observation, reward, terminated, _, info = env.step(env.expert_action())
                total += reward
                if terminated:
                    break
            assert terminated
            assert info["is_success"]
            assert total == 1.0


@pytest.mark.parametrize(("goal", "success"), [("exact", False), ("near", True)])
def test_hunt_near_takes_a_neighbour(goal: str, success: bool) -> None:
    env = build("hunt", goal=goal)
    env.reset(seed=0)
    assert env.step(env._secret + 1)[4]["is_success"] is success


def test_hunt_moving_grows_by_one_after_a_miss() -> None:
    env = build("hunt", goal="moving")
    env.reset(seed=0)
    first = env._secret
    env.step(first + 2)
    assert won(env, first + 1) == [True]


def test_hunt_twice_wants_two_numbers() -> None:
    env = build("hunt", goal="twice")
    env.reset(seed=0)
    assert env.step(env._secret)[1:3] == (0.5, False)
    assert env.step(env._secret)[1:3] == (0.5, True)


@pytest.mark.parametrize(("feedback", "said"), [("side", "It is lower than"), ("distance", "It is 1 away")])
def test_hunt_tells_the_side_or_the_distance(feedback: str, said: str) -> None:
    env = build("hunt", goal="exact", feedback=feedback, end="strict")
    env.reset(seed=0)
    assert env.step(env._secret + 1)[0].startswith(said)
    assert won(env, env._secret + 1) == [False]  # ruled out by the answer before


def test_walk_off_the_edge_ends_the_walk_or_stops_there() -> None:
    for end, terminated in (("edge", True), ("limit", False)):
        env = build("walk", goal="reach", end=end)
        env.reset(seed=0)
        env._at, env._goal = (1, 1), (3, 3)
        assert env.step(0)[2] is terminated
        assert env._at == (1, 1)


def test_walk_avoid_loses_in_the_pit_and_the_expert_goes_round_it() -> None:
    env = build("walk", goal="avoid")
    env.reset(seed=0)
    env._at, env._goal, env._pit = (1, 1), (3, 3), (2, 1)
    assert env.expert_action() == 3
    assert won(env, 1) == [False]


def test_walk_fetch_keeps_its_order_and_both_does_not() -> None:
    for goal, terminated in (("fetch", False), ("both", True)):
        env = build("walk", goal=goal)
        env.reset(seed=0)
        env._at, env._goals = (1, 1), [(1, 2), (2, 1)]
        assert [env.step(action)[2] for action in (1, 0, 3)] == [False, False, terminated]


def test_pick_wants_what_its_goal_says() -> None:
    wanted = {"largest": max, "smallest": min, "second": lambda n: sorted(n)[-2], "last": lambda n: n[-1]}
    for (goal, choose), seed in product(wanted.items(), range(20)):
        env = build("pick", goal=goal, count=4, wins=1)
        observation, _ = env.reset(seed=seed)
        numbers = [int(n) for n in observation.strip(".").split(", ")]
        assert won(env, choose(numbers)) == [True]


def test_pick_odd_shows_one_odd_number() -> None:
    env = build("pick", goal="odd")
    observation, _ = env.reset(seed=0)
    odd = [int(n) for n in observation.strip(".").split(", ") if int(n) % 2]
    assert odd == [env.expert_action()]


@pytest.mark.parametrize(("end", "outcomes"), [("limit", "rwr"), ("streak", "rwrr"), ("sudden", "rw")])
def test_pick_ends_as_it_says(end: str, outcomes: str) -> None:
    env = build("pick", goal="largest", end=end, wins=2)
    env.reset(seed=1)
    for outcome in outcomes:
        right = env.expert_action()
        terminated, info = env.step(right if outcome == "r" else right % 50 + 1)[2::2]
    assert terminated
    assert info["is_success"] is (end != "sudden")


@pytest.mark.parametrize(
    ("goal", "said"),
    [("forward", "cabcb"), ("backward", "bcbac"), ("sorted", "abbcc"), ("unique", "cab")],
)
def test_recall_wants_the_order_that_it_says(goal: str, said: str) -> None:
    env = build("recall", goal=goal, items=["ant", "bee", "cow"], length=5, end="sudden")
    row = "Words: cow, ant, bee, cow, bee."
    next(seed for seed in range(2_000) if env.reset(seed=seed)[0] == row)
    assert won(env, *("abc".index(letter) for letter in said))[-1]


def test_recall_begins_again_after_a_mistake() -> None:
    env = build("recall", goal="forward", end="restart", feedback="left", length=2)
    first, _ = env.reset(seed=0)
    assert env.step(env.expert_action())[0] != first
    assert env.step((env.expert_action() + 1) % 3)[0] == first
