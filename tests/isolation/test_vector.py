"""A vector of isolated environments says what Gymnasium's own vector of the same environments says."""

from __future__ import annotations

import pickle
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.vector.utils import concatenate, create_empty_array
from hypothesis import given, settings
from hypothesis import strategies as st
from small_designs import design

import spade_envs
from spade_envs import IsolatedEnv
from spade_envs.errors import UsageError, WorkerFault
from spade_envs.vector import IsolatedVectorEnv

SEEDS = sorted(path.stem for path in spade_envs.seeds_folder().glob("*.py"))


def source_of(name: str) -> str:
    return (spade_envs.seeds_folder() / f"{name}.py").read_text()


def sync(source: str, count: int, mode: AutoresetMode, **arguments: Any) -> SyncVectorEnv:
    def one() -> gym.Env[Any, Any]:
        env = IsolatedEnv(source, render_mode="ansi", **arguments)
        return gym.wrappers.TimeLimit(env, env.header.max_episode_steps)

    return SyncVectorEnv([one] * count, autoreset_mode=mode)


def same(ours: Any, theirs: Any) -> None:
    """Equal in values, in the types of arrays, and in form."""
    assert type(ours) is type(theirs), (ours, theirs)
    if isinstance(ours, dict):
        assert ours.keys() == theirs.keys(), (ours, theirs)
        for key in ours:
            same(ours[key], theirs[key])
    elif isinstance(ours, np.ndarray) and ours.dtype != object:
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)
    elif isinstance(ours, (tuple, list, np.ndarray)):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            same(one, other)
    else:
        assert ours == theirs


def play(ours: Any, theirs: Any, steps: int, seed: int) -> None:
    """Play both with the same actions, good and bad ones, and compare all that they say."""
    random = np.random.default_rng(seed)
    same(ours.reset(seed=seed), theirs.reset(seed=seed))
    ours.action_space.seed(seed)
    disabled = ours.autoreset_mode is AutoresetMode.DISABLED
    over = np.zeros(ours.num_envs, bool)
    for _ in range(steps):
        actions = ours.action_space.sample()
        if not over.any() and random.random() < 0.5:  # after the last step an expert may know nothing to do
            expert = ours.call("expert_action")
            same(expert, theirs.call("expert_action"))
            actions = expert
            if not isinstance(ours.single_action_space, gym.spaces.Text):
                empty = create_empty_array(ours.single_action_space, ours.num_envs)
                actions = concatenate(ours.single_action_space, expert, empty)
        got, expected = ours.step(actions), theirs.step(actions)
        same(got, expected)
        over = got[2] | got[3] if ours.autoreset_mode is not AutoresetMode.SAME_STEP else over
        if disabled and over.any():
            same(*(vector.reset(options={"reset_mask": over.copy()}) for vector in (ours, theirs)))
            over[:] = False


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("name", SEEDS)
def test_every_seed_is_as_in_gymnasiums_vector(name: str, mode: AutoresetMode) -> None:
    ours = IsolatedVectorEnv(source_of(name), 2, autoreset_mode=mode, render_mode="ansi")
    theirs = sync(source_of(name), 2, mode)
    play(ours, theirs, 30, 5)
    same(ours.render(), theirs.render())
    same(ours.call("hint"), theirs.call("hint"))
    ours.close()
    theirs.close()


RANDOM = design(
    reset="self._at = int(self.np_random.integers(1000)) + random.randrange(1000)",
    step="self._at = (self._at * 31 + action + random.randrange(9)) % 1999",
    observation_space="spaces.Discrete(1999)",
    observation="self._at",
    info="{'half': self._at / 2, 'where': {'row': self._at, 'name': str(self._at)}, 'pair': np.arange(2) * self._at}",
)
WEIRD = design(
    info="[{}, {'x': 1}, {'x': 0.5, 'y': None}, {'x': {'z': 1}}, {'x': np.ones(self._turn)},"
    " {1: [2], 'x': 2 ** 64 - 1}, {'_x': 3, 'x': 'a'}, {'x': ()}][action]"
)


@settings(max_examples=15)
@given(
    st.sampled_from(list(AutoresetMode)),
    st.integers(0, 2**40) | st.lists(st.none() | st.integers(0, 2**31), min_size=3, max_size=3),
    st.lists(st.lists(st.integers(0, 7), min_size=3, max_size=3), max_size=25),
    st.booleans(),
)
def test_seeds_and_infos_are_as_in_gymnasiums_vector(
    mode: AutoresetMode, seed: Any, actions: list[list[int]], again: bool
) -> None:
    ours, theirs = IsolatedVectorEnv(RANDOM, 3, autoreset_mode=mode), sync(RANDOM, 3, mode)
    for vector in (ours, theirs):
        vector.reset(seed=11)
    same(ours.reset(seed=seed), theirs.reset(seed=seed))
    for batch in actions:
        got = ours.step(np.array(batch))
        same(got, theirs.step(np.array(batch)))
        over = got[2] | got[3]
        if mode is AutoresetMode.DISABLED and over.any():
            same(*(vector.reset(options={"reset_mask": over.copy()}) for vector in (ours, theirs)))
    if again:
        same(ours.reset(), theirs.reset())
    ours.close()
    theirs.close()


@given(st.lists(st.lists(st.integers(0, 7), min_size=4, max_size=4), max_size=6))
@settings(max_examples=30)
def test_no_info_of_a_designs_breaks_the_vector(actions: list[list[int]]) -> None:
    vector = IsolatedVectorEnv(WEIRD, 4, isolation="none")
    vector.reset(seed=0)
    for batch in actions:
        infos = vector.step(batch)[4]
        assert "fault" not in infos
        if "x" in infos and not isinstance(infos["x"], dict):
            assert len(infos["x"]) == 4
    vector.close()


def test_make_vec_makes_it_with_the_headers_time_limit() -> None:
    vector = gym.make_vec("spade/LampRow-v0", num_envs=3, difficulty=2)
    assert isinstance(vector, IsolatedVectorEnv)
    assert vector.spec is not None
    limit = vector.header.max_episode_steps
    assert vector.spec.max_episode_steps == limit
    vector.close()
    short = gym.make_vec("spade/LampRow-v0", num_envs=2, max_episode_steps=2, autoreset_mode="SameStep")
    short.reset(seed=0)
    assert not short.step([0, 0])[3].any()
    assert short.step([0, 0])[3].all()
    short.close()


def test_levels_and_designs_take_turns() -> None:
    levels = IsolatedVectorEnv(source_of("oasis_walk"), 4, difficulty=[1, 2])
    alone = [IsolatedEnv(source_of("oasis_walk"), difficulty=level) for level in (1, 2, 1, 2)]
    observations, _ = levels.reset(seed=5)
    for at, env in enumerate(alone):
        np.testing.assert_array_equal(observations[at], env.reset(seed=5 + at)[0])
        env.close()
    levels.close()
    other = RANDOM.replace("spade/Sample-v0", "spade/Other-v0").replace("* 31", "* 37")
    mixed, one, two = (IsolatedVectorEnv(text, 4) for text in ([RANDOM, other], RANDOM, other))
    for vector in (mixed, one, two):
        vector.reset(seed=1)
        vector.step([1, 2, 3, 4])
    got, first, second = (vector.step([4, 3, 2, 1]) for vector in (mixed, one, two))
    assert got[0].tolist() == [first[0][0], second[0][1], first[0][2], second[0][3]]
    assert [header.id.name for header in mixed.headers] == ["Sample", "Other"] * 2
    for vector in (mixed, one, two):
        vector.close()


def test_several_workers_say_what_one_does() -> None:
    one, three = IsolatedVectorEnv(RANDOM, 7, workers=1), IsolatedVectorEnv(RANDOM, 7, workers=3)
    assert len(three._crew._squads) == 3
    play(three, one, 20, 3)
    for vector in (one, three):
        vector.close()


def test_what_is_wrong_is_named() -> None:
    with pytest.raises(UsageError, match="the observation_space of environment 1"):
        IsolatedVectorEnv([design(), design(observation_space="spaces.Discrete(10)")])
    with pytest.raises(WorkerFault, match="environment 1: __init__: all instances must have the same spaces"):
        IsolatedVectorEnv(source_of("largest_value"), 2, difficulty=[1, 2])
    with pytest.raises(UsageError, match="2 difficulty levels cannot take turns evenly in 3"):
        IsolatedVectorEnv(source_of("lamp_row"), 3, difficulty=[1, 2])
    vector = IsolatedVectorEnv(design(), 3)
    with pytest.raises(gym.error.ResetNeeded):
        vector.step([0, 0, 0])
    vector.reset(seed=0)
    with pytest.raises(UsageError, match=r"environment 1: .*8 is not in 0 to 7"):
        vector.step([0, 8, 0])
    with pytest.raises(UsageError, match="2 actions for 3"):
        vector.step([0, 1])
    with pytest.raises(UsageError, match="whole number"):
        vector.step([0.5, 1.0, 2.0])
    with pytest.raises(UsageError, match="2 seeds for 3"):
        vector.reset(seed=[1, 2])
    with pytest.raises(UsageError, match="cannot be called"):
        vector.call("__class__")
    with pytest.raises(UsageError, match="cannot be set"):
        vector.set_attr("bonus", 1)
    assert vector.step([1, 2, 3])[0].tolist() == [1, 1, 1]
    vector.close()


def test_observations_are_the_callers_own() -> None:
    vector = IsolatedVectorEnv(source_of("oasis_walk"), 2)
    first, _ = vector.reset(seed=0)
    kept = first.copy()
    first[:] = 7
    second = vector.step([0, 0])[0]
    assert second is not first
    assert not np.array_equal(second, first)
    with pytest.raises(UsageError, match="no episode"):
        IsolatedVectorEnv(source_of("oasis_walk"), 2).snapshot()
    assert np.array_equal(vector.reset(seed=0)[0], kept)
    vector.close()


def test_states_can_be_kept_and_returned_to() -> None:
    vector = IsolatedVectorEnv(RANDOM, 4)
    vector.reset(seed=2)
    for step in range(4):
        vector.step([step, 1, 2, 3])
    kept = pickle.loads(pickle.dumps(vector.snapshot([0, 2])))
    went_on = [vector.step([5, 5, 5, 5]) for _ in range(3)]
    vector.restore(kept, [0, 2])
    again = [vector.step([5, 5, 5, 5]) for _ in range(3)]
    for first, second in zip(went_on, again, strict=True):
        assert first[0][[0, 2]].tolist() == second[0][[0, 2]].tolist()
    observations, _ = vector.fork(1)
    assert len(set(observations.tolist())) == 1
    assert len(set(vector.step([3, 3, 3, 3])[0].tolist())) == 1
    other = IsolatedVectorEnv(design(), 2)
    other.reset(seed=0)
    with pytest.raises(UsageError, match="another design"):
        vector.restore(other.snapshot([0]), [0])
    for one in (vector, other):
        one.close()


def test_a_restored_episode_has_the_time_that_was_left() -> None:
    vector = IsolatedVectorEnv(RANDOM.replace("self._turn >= 8", "False"), 2, max_episode_steps=5)
    vector.reset(seed=0)
    for _ in range(3):
        vector.step([0, 0])
    kept = vector.snapshot([0])
    vector.reset(seed=0)
    vector.restore(kept, [0])
    assert [vector.step([0, 0])[3].tolist() for _ in range(2)] == [[False, False], [True, False]]
    vector.close()
