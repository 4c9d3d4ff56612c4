"""Many episodes of text at once say what each says by itself."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from small_designs import design

import spade_envs
from spade_envs import IsolatedEnv, TextEnv
from spade_envs.errors import UsageError
from spade_envs.isolation import Limits
from spade_envs.vector import TextVector

SEEDS = ["oasis_walk", "word_sorter", "shell_session", "maze_key", "cargo_hold", "stock_room", "lamp_row"]
FORMATS = ["xml", "boxed", "tool_call", "raw"]


def source_of(name: str) -> str:
    return (spade_envs.seeds_folder() / f"{name}.py").read_text()


def single(source: str, action_format: Any) -> TextEnv:
    env = IsolatedEnv(source)
    spec = gym.envs.registration.EnvSpec("spade-test/X-v0", max_episode_steps=env.header.max_episode_steps)
    env.spec = spec
    return TextEnv(gym.wrappers.TimeLimit(env, env.header.max_episode_steps), action_format)


@pytest.mark.parametrize("name", SEEDS)
def test_episodes_are_those_of_single_environments(name: str) -> None:
    action_format: Any = FORMATS[SEEDS.index(name) % 4]
    source, count = source_of(name), 4
    vector = TextVector(source, count, action_format=action_format)
    singles = [single(source, action_format) for _ in range(count)]
    assert vector.rules(0) == singles[0].rules
    assert vector.tools(0) == singles[0].tools
    random = np.random.default_rng(1)
    for again in (False, True):
        begun = vector.reset(environments=[0, 2]) if again else vector.reset(seed=7)
        for at in begun:
            first = singles[at].reset(seed=7 + at) if not again else singles[at].reset()
            assert begun[at] == first
        while vector.running:
            asked = [at for at in sorted(vector.running) if random.random() < 0.8]
            experts = vector.expert_texts(asked)
            assert vector.hints(asked) == {at: singles[at].hint() for at in asked}
            replies = {at: "nothing" if random.random() < 0.3 else experts[at] for at in asked}
            got = vector.step(replies)
            for at, turn in got.items():
                assert experts[at] == singles[at].expert_text()
                expected = singles[at].step(replies[at])
                np.testing.assert_equal(tuple(turn), expected)
    vector.close()
    for env in singles:
        env.close()


def test_a_fault_ends_one_episode() -> None:
    source = design(step="if action == 7:\n    while True:\n        pass")
    vector, alone = TextVector(source, 4, limits=Limits(call_s=0.3)), single(source, "xml")
    vector.reset(seed=0)
    alone.reset(seed=0)
    replies = {at: f"<answer>{7 if at == 2 else 1}</answer>" for at in range(4)}
    turns = vector.step(replies)
    expected = alone.step(replies[0])
    assert [turns[at].text for at in (0, 1, 3)] == [expected[0]] * 3
    assert turns[2].truncated
    assert turns[2].info["fault"].startswith("timeout")
    assert turns[2].text.startswith("The episode was stopped: timeout")
    assert vector.running == {0, 1, 3}
    with pytest.raises(UsageError, match="environment 2 has no episode"):
        vector.step(replies)
    assert vector.step({3: "<answer>1</answer>"})[3].text == "turn 2"
    vector.reset(environments=[2])
    assert vector.step({2: "<answer>1</answer>"})[2].text == "turn 1"
    vector.close()
    alone.close()
