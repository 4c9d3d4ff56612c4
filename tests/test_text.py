"""The text face: what is written can be read, what cannot be read costs a turn, and nothing ever raises."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec
from hypothesis import assume, given
from hypothesis import strategies as st

from spade_envs import Registry, TextEnv, add_registry, make_text, seeds_folder
from spade_envs.contract.text_space import UnicodeText
from spade_envs.envs import IsolatedEnv
from spade_envs.errors import UsageError
from spade_envs.registry import stack
from spade_envs.spoken import UnreadableError, expected, read_action, write_action

FORMATS = ("boxed", "xml", "tool_call", "raw")
WORDS = ("north", "south", "east", "west")

leaves = st.one_of(
    st.builds(lambda n, start: spaces.Discrete(n, start=start), st.integers(1, 50), st.integers(-9, 9)),
    st.builds(spaces.MultiDiscrete, st.lists(st.integers(1, 9), min_size=1, max_size=4)),
    st.builds(spaces.MultiBinary, st.integers(1, 6)),
    st.builds(
        lambda low, width, shape, dtype: spaces.Box(low, low + width, shape, dtype),
        st.integers(-50, 50),
        st.integers(1, 99),
        st.sampled_from([(1,), (3,), (2, 2)]),
        st.sampled_from([np.float32, np.float64, np.int32]),
    ),
    st.just(UnicodeText(200)),
)
any_space = st.recursive(
    leaves,
    lambda parts: st.one_of(
        st.dictionaries(st.sampled_from("abc"), parts, min_size=1).map(spaces.Dict),
        st.lists(parts, min_size=1, max_size=3).map(spaces.Tuple),
    ),
    max_leaves=5,
)


class Stand(gym.Env[Any, Any]):
    """An environment of any action space that remembers what it was given."""

    rules, tools = "Stand still.", ()

    def __init__(self, space: spaces.Space[Any], names: Any = None) -> None:
        self.action_space, self.action_names = space, names
        self.observation_space = UnicodeText(100)
        self.spec = EnvSpec("Stand-v0", max_episode_steps=3)
        self.given: list[Any] = []

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[str, dict[str, Any]]:
        return "Here.", {}

    def step(self, action: Any) -> tuple[str, float, bool, bool, dict[str, Any]]:
        self.given.append(action)
        return "There.", 0.0, False, False, {}

    def describe(self) -> str:
        return "Here."

    def hint(self) -> str:
        return "Wait."

    def expert_action(self) -> Any:
        return self.action_space.sample()


def same(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    return bool(one == other)


@given(space=any_space, seed=st.integers(0, 999), action_format=st.sampled_from(FORMATS))
def test_what_is_written_is_read_as_the_same_action(
    space: spaces.Space[Any], seed: int, action_format: Any
) -> None:
    space.seed(seed)
    env = TextEnv(Stand(space), action_format)
    action = space.sample()
    reply = env.format_action(action)
    assume("<answer>" not in reply[1:] and "\\boxed{" not in reply[1:])
    _, _, _, _, info = env.step(reply)
    assert not info["invalid_action"], reply
    assert same(env.unwrapped.given[-1], action)  # type: ignore[attr-defined]


@given(action=st.text(" \n\ta{}", max_size=8), action_format=st.sampled_from(FORMATS))
def test_white_space_of_a_text_survives(action: str, action_format: Any) -> None:
    env = TextEnv(Stand(UnicodeText(20)), action_format)
    env.step(env.format_action(action))
    assert env.unwrapped.given == [action]  # type: ignore[attr-defined]


@given(space=any_space, reply=st.text(max_size=60), action_format=st.sampled_from(FORMATS))
def test_no_reply_raises(space: spaces.Space[Any], reply: str, action_format: Any) -> None:
    env = TextEnv(Stand(space), action_format)
    marked = {"boxed": "\\boxed{%s}", "xml": "<answer>%s</answer>", "tool_call": "<tool_call>%s</tool_call>"}
    for text in (reply, marked.get(action_format, "%s") % reply):
        observation, reward, *_, info = env.step(text)
        assert isinstance(observation, str)
        assert reward == 0.0
        if not info["invalid_action"]:
            assert space.contains(env.unwrapped.given[-1])  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("reply", "direction"),
    [
        ("<answer>east</answer>", 2),
        ("I go <answer>north</answer>, no, <answer> East. </answer>", 2),
        ("<think><answer>north</answer></think> <answer>EAST</answer>", 2),
        ("<answer>up</answer>", None),
        ("<answer>2</answer>", None),
        ("east", None),
        ("<think>so <answer>east</answer>", None),
        ("", None),
    ],
)
def test_the_last_answer_outside_thoughts_counts(reply: str, direction: int | None) -> None:
    env = TextEnv(Stand(spaces.Discrete(4), WORDS))
    *_, info = env.step(reply)
    assert env.unwrapped.given == ([] if direction is None else [direction])  # type: ignore[attr-defined]
    assert info["invalid_action"] is (direction is None)


@pytest.mark.parametrize(
    ("reply", "held"),
    [
        ("\\boxed{[1, 2]}", [1, 2]),
        ("so \\boxed{[0, 1]} it is {", [0, 1]),
        ("\\boxed{[0, 0]} or \\boxed{[2, 2]}", [2, 2]),
    ],
)
def test_boxes_are_matched_by_their_braces(reply: str, held: list[int]) -> None:
    env = TextEnv(Stand(spaces.MultiDiscrete([3, 3])), "boxed")
    env.step(reply)
    assert env.unwrapped.given[-1].tolist() == held  # type: ignore[attr-defined]


def test_an_invalid_reply_is_answered_with_what_is_expected_and_costs_a_turn() -> None:
    env = TextEnv(Stand(spaces.Discrete(4), WORDS))
    env.reset()
    said, reward, terminated, truncated, info = env.step("hm")
    assert "<answer>...</answer>" in said
    assert "north, south, east, west" in said
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert info["is_success"] is False
    assert env.step("<answer>north</answer>")[3] is False
    assert env.step("hm")[3] is True, "the third of three turns is the last"
    env.reset()
    assert env.step("<answer>north</answer>")[3] is False, "a new episode has all its turns"


@pytest.mark.parametrize(
    ("space", "text"),
    [
        (spaces.Discrete(3), "3"),
        (spaces.Discrete(3), "1.0"),
        (spaces.Discrete(3), "true"),
        (spaces.MultiDiscrete([2, 2]), "[1, 1, 1]"),
        (spaces.MultiDiscrete([2, 2]), "[1, 0.5]"),
        (spaces.MultiDiscrete([2, 2]), "[[1, 1], 1]"),
        (spaces.Box(-1, 1, (2,)), "[0, NaN]"),
        (spaces.Box(-1, 1, (2,)), "[0, 1e999]"),
        (spaces.Box(-np.inf, np.inf, (1,)), f"[{10**400}]"),
        (spaces.Box(0, 9, (1,), np.int32), f"[{2**40}]"),
        (spaces.Dict({"a": spaces.Discrete(2)}), '{"a": 1, "b": 0}'),
        (spaces.Tuple([spaces.Discrete(2)]), "[]"),
        (spaces.Discrete(2), "[" * 5000),
    ],
)
def test_what_is_no_action_says_so(space: spaces.Space[Any], text: str) -> None:
    with pytest.raises(UnreadableError):
        read_action(text, space)


def test_long_lists_of_names_are_cut() -> None:
    names = [f"answer {n}" for n in range(99)]
    assert len(expected(spaces.Discrete(99), names)) < 200
    assert write_action(7, spaces.Discrete(99), names) == "answer 7"


def test_unknown_formats_and_bare_environments_are_refused() -> None:
    with pytest.raises(UsageError, match="boxed, xml"):
        TextEnv(Stand(spaces.Discrete(2)), "yaml")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="no text face"):
        TextEnv(gym.make("CartPole-v1"))


@pytest.mark.parametrize("action_format", FORMATS)
@pytest.mark.parametrize("name", ["stock_room", "lamp_row", "patch_desk"])
def test_experts_win_by_text_alone(name: str, action_format: Any) -> None:
    source = (seeds_folder() / f"{name}.py").read_text()
    env = TextEnv(IsolatedEnv(source), action_format)
    try:
        env.reset(seed=5)
        for _ in range(env.unwrapped.header.max_episode_steps):  # type: ignore[attr-defined]
            text, reward, terminated, _, info = env.step(env.expert_text())
            assert isinstance(text, str)
            if terminated:
                break
        assert (reward, info["is_success"], info["invalid_action"]) == (1.0, True, False)
        assert env.hint()
        assert bool(env.tools) is (name == "stock_room" or action_format == "tool_call")
    finally:
        env.close()


def test_an_older_version_is_made_without_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(stack.ADDED, "")
    source = (seeds_folder() / "lamp_row.py").read_text().replace("LampRow", "OldLampRow")
    registry = Registry(tmp_path)
    for body in (source, source.replace("Presses left", "Left")):
        registry.add(body, {})
    add_registry(tmp_path)
    monkeypatch.setattr(gym.envs.registration, "registry", type(gym.registry)(gym.registry))
    with pytest.warns(UserWarning, match="latest versioned"):
        gym.make("spade/OldLampRow").close()
    with pytest.warns(DeprecationWarning, match="out of date"):
        gym.make("spade/OldLampRow-v0").close()
    make_text("spade/OldLampRow-v0").close()
