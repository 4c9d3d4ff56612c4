"""The seed environments: ordinary Gymnasium code, and worth learning in."""

from __future__ import annotations

import importlib.util
import inspect
import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env

from spade_envs import EnvId, Header, IsolatedEnv, parse_header, seeds_folder
from spade_envs.contract import file_sha256

SEEDS = sorted(seeds_folder().glob("*.py")) + sorted(seeds_folder().glob("heldout/*.py"))
NUMERIC = [
    "balance_beam",
    "cargo_hold",
    "circuit_probe",
    "common_divisor",
    "lamp_row",
    "largest_value",
    "oasis_walk",
    "pendulum_lab",
    "spring_scale",
]


def header_of(path: Path) -> Header:
    header = parse_header(path.read_text())
    assert isinstance(header, Header)
    return header


def levels(path: Path) -> list[dict[str, Any]]:
    count = header_of(path).difficulty_levels
    return [{"difficulty": level + 1} for level in range(count)] if count else [{}]


def plain_class(path: Path) -> type[gym.Env[Any, Any]]:
    """Import a seed environment like any other Python file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (found,) = [
        c for _, c in inspect.getmembers(module, inspect.isclass)
        if issubclass(c, gym.Env) and c.__module__ == module.__name__
    ]  # fmt: skip
    return found


def expert_episode(env: Any, seed: int, limit: int) -> list[Any]:
    """Play as the expert does and return all that was seen; the last item says whether it succeeded."""
    seen = [deepcopy(env.reset(seed=seed)[0])]
    for _ in range(limit):
        observation, reward, terminated, _, info = env.step(env.expert_action())
        seen += [deepcopy(observation), reward]
        if terminated:
            return [*seen, info["is_success"]]
    return [*seen, False]


@pytest.mark.parametrize("path", SEEDS, ids=lambda path: path.stem)
def test_a_seed_is_ordinary_gymnasium_code_and_plays_alike_in_a_worker(path: Path) -> None:
    plain, limit = plain_class(path), header_of(path).max_episode_steps
    for arguments in levels(path):
        outside, isolated = plain(**arguments), IsolatedEnv(path.read_text(), **arguments)
        try:
            for seed in range(10):
                seen = expert_episode(outside, seed, limit)
                assert seen[-1] is True, f"the expert loses seed {seed} at {arguments}"
                if seed < 3:
                    np.testing.assert_equal(expert_episode(isolated, seed, limit), seen)
        finally:
            isolated.close()


@pytest.mark.parametrize("name", ["word_gate", "patch_desk"])
@pytest.mark.parametrize("ending", ["@lazy", "class A:", "lazy = (", "if True:", "\\", "'''"])
def test_an_agents_program_cannot_change_how_it_is_judged(name: str, ending: str) -> None:
    program = f"def nothing(given):\n    return []\n\ndef lazy(function):\n    return nothing\n\n{ending}"
    environment = IsolatedEnv((seeds_folder() / f"{name}.py").read_text())
    environment.reset(seed=0)
    _, reward, _, _, info = environment.step(program)
    assert (reward, info["is_success"]) == (0.0, False)
    environment.close()


@pytest.mark.parametrize("name", NUMERIC)
def test_gymnasium_finds_no_fault(name: str) -> None:
    path = seeds_folder() / f"{name}.py"
    file = {"path": str(path), "sha256": file_sha256(path.read_text())}
    for arguments in levels(path):
        spec = EnvSpec("Seed-v0", "spade_envs.envs:make_environment", kwargs={**file, **arguments})
        env = gym.make(spec, render_mode="ansi")
        assert not isinstance(env.observation_space, spaces.Text)
        check_env(env.unwrapped)


def test_ids_and_file_names_agree() -> None:
    for path in SEEDS:
        name = "".join(part.capitalize() for part in path.stem.split("_"))
        assert header_of(path).id == EnvId(name, 0)
        assert header_of(path).origin == "seed"


def test_the_corpus_holds_short_texts_with_titles() -> None:
    lines = (seeds_folder() / "corpus" / "documents.jsonl").read_text().splitlines()
    documents = [json.loads(line) for line in lines]
    assert len(documents) >= 24
    assert len({document["title"] for document in documents}) == len(documents)
    for document in documents:
        assert document.keys() == {"title", "text", "license"}
        assert document["license"] == "Apache-2.0"
        assert 80 <= len(document["text"].split()) <= 200, document["title"]


def success_rate(env: IsolatedEnv, act: Any, episodes: int = 60) -> float:
    """Return the share of episodes, on seeds that training does not draw, that succeed."""
    wins = 0
    for seed in range(episodes):
        observation, over = env.reset(seed=10**6 + seed)[0], False
        while not over:
            observation, _, terminated, truncated, info = env.step(act(observation))
            over = terminated or truncated
        wins += info["is_success"]
    return wins / episodes


@pytest.mark.soak
def test_ppo_learns_the_oasis_walk() -> None:
    """Stable-baselines3 as its users call it: from about one in seven to nearly always in 2,048 steps."""
    torch = pytest.importorskip("torch")
    ppo = pytest.importorskip("stable_baselines3").PPO
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    env = IsolatedEnv((seeds_folder() / "oasis_walk.py").read_text())
    try:
        model = ppo(
            "MlpPolicy", env, n_steps=256, batch_size=64, learning_rate=3e-3, gamma=0.9, seed=0, device="cpu"
        )
        before = success_rate(env, lambda seen: int(model.predict(seen)[0]))
        model.learn(2048)
        after = success_rate(env, lambda seen: int(model.predict(seen)[0]))
    finally:
        env.close()
        torch.set_num_threads(threads)
    assert before < 0.35
    assert after > 0.8
