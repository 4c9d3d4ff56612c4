"""stable-baselines3 sees in a vector of isolated environments what it sees in its own vector of them."""

from __future__ import annotations

from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import spade_envs
from spade_envs import IsolatedEnv
from spade_envs.errors import UsageError
from spade_envs.vector import IsolatedVectorEnv

vec_env = pytest.importorskip("stable_baselines3.common.vec_env")
pytest.importorskip("spade_envs.vector.stable_baselines")


def wrapped(source: str, count: int, **options: Any) -> Any:
    from spade_envs.vector.stable_baselines import StableBaselinesVecEnv

    return StableBaselinesVecEnv(IsolatedVectorEnv(source, count, autoreset_mode="SameStep", **options))


def one(source: str) -> Any:
    env = IsolatedEnv(source)
    return gym.wrappers.TimeLimit(env, env.header.max_episode_steps)


@pytest.mark.parametrize("name", ["oasis_walk", "lamp_row", "maze_key", "river_stones"])
def test_it_says_what_their_own_vector_says(name: str) -> None:
    source = (spade_envs.seeds_folder() / f"{name}.py").read_text()
    ours, theirs = wrapped(source, 3), vec_env.DummyVecEnv([partial(one, source)] * 3)
    for vector in (ours, theirs):
        vector.seed(4)
    np.testing.assert_equal(ours.reset(), theirs.reset())
    np.testing.assert_equal(ours.reset_infos, theirs.reset_infos)
    random = np.random.default_rng(0)
    for _ in range(60):
        actions = random.integers(0, ours.action_space.n, 3)
        got, expected = ours.step(actions), theirs.step(actions)
        np.testing.assert_equal(got[:3], expected[:3])
        for mine, their in zip(got[3], expected[3], strict=True):
            their = {**their, "TimeLimit.truncated": their.get("TimeLimit.truncated")}
            mine = {**mine, "TimeLimit.truncated": mine.get("TimeLimit.truncated", False)}
            np.testing.assert_equal(mine, their)
    assert ours.env_method("hint", indices=[1]) == [theirs.envs[1].unwrapped.hint()]
    ours.close()
    theirs.close()


def test_ppo_learns_in_it() -> None:
    ppo = pytest.importorskip("stable_baselines3").PPO
    source = (spade_envs.seeds_folder() / "oasis_walk.py").read_text()
    vector = wrapped(source, 8)
    model = ppo("MlpPolicy", vector, n_steps=16, batch_size=64, n_epochs=1, seed=0, device="cpu")
    model.learn(256)
    assert model.num_timesteps == 256
    vector.close()


def test_another_autoreset_is_refused() -> None:
    from spade_envs.vector.stable_baselines import StableBaselinesVecEnv

    source = (spade_envs.seeds_folder() / "oasis_walk.py").read_text()
    vector = IsolatedVectorEnv(source, 2)
    with pytest.raises(UsageError, match="SameStep"):
        StableBaselinesVecEnv(vector)
    vector.close()
