"""A vector of isolated environments says what Gymnasium's own vector of the same environments says."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.vector.utils import concatenate, create_empty_array

import spade_envs
from spade_envs import IsolatedEnv
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
