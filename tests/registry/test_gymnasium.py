"""What a registry holds can be made by Gymnasium: at once, in vectors, in spawned workers, by import."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from designs import HONEST

from spade_envs.errors import SpadeError
from spade_envs.registry import Registry, add_registry, stack


@pytest.fixture(scope="module")
def env_id(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An environment in a registry that was added while this process runs."""
    root = tmp_path_factory.mktemp("made")
    made = Registry(root).add(HONEST.replace("LampHunt", "LampHuntMade"), {})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(stack.ADDED, "")
        add_registry(root)
        yield str(made)


def test_make_and_play(env_id: str) -> None:
    env = gymnasium.make(env_id, difficulty=2)
    observation, _ = env.reset(seed=1)
    assert env.observation_space.contains(observation)
    steps = 0
    ended = False
    while not ended:
        _, _, terminated, truncated, _ = env.step(0)
        steps, ended = steps + 1, terminated or truncated
    assert steps <= 7  # the header's time limit
    env.close()


@pytest.mark.parametrize("options", [{}, {"vector_kwargs": {"context": "spawn"}}], ids=["sync", "async"])
def test_vectors_play_as_single_environments_do(env_id: str, options: dict) -> None:
    mode = "async" if options else "sync"
    vector = gymnasium.make_vec(env_id, num_envs=2, vectorization_mode=mode, difficulty=1, **options)
    try:
        observations, _ = vector.reset(seed=3)
        observations, *_ = vector.step(np.array([30, 30]))
    finally:
        vector.close()
    for k in range(2):
        env = gymnasium.make(env_id, difficulty=1)
        env.reset(seed=3 + k)
        assert (env.step(30)[0] == observations[k]).all()
        env.close()


def test_an_exact_pin_fails_where_the_file_differs(env_id: str) -> None:
    right = gymnasium.spec(env_id).kwargs["sha256"]
    gymnasium.make(env_id, sha256=right).close()
    with pytest.raises(SpadeError, match="is not the file"):
        gymnasium.make(env_id, sha256="0" * 64)


def test_one_import_is_enough_in_a_new_process(tmp_path: Path) -> None:
    Registry(tmp_path).add(HONEST.replace("LampHunt", "LampHuntNew"), {})
    script = (
        "import gymnasium, sys\n"
        "gymnasium.make('spade_envs:spade/LampHuntNew-v0').close()\n"
        "gymnasium.make('spade/LampHuntNew').close()\n"
        "print([name for name in ('torch', 'rich', 'typer') if name in sys.modules])"
    )
    environment = {**os.environ, "SPADE_REGISTRY": str(tmp_path)}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.strip() == "[]"


def test_importing_is_light(tmp_path: Path) -> None:
    script = (
        "import sys, spade_envs\n"
        "heavy = ('torch', 'rich', 'typer', 'RestrictedPython', 'spade_envs.admission', 'spade_envs.envs')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    environment = {**os.environ, "SPADE_REGISTRY": str(tmp_path)}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_can_be_had() -> None:
    import spade_envs

    assert all(getattr(spade_envs, name) is not None for name in spade_envs.__all__)
    assert set(spade_envs.__all__) <= set(dir(spade_envs))
    with pytest.raises(AttributeError, match="no_such"):
        _ = spade_envs.no_such
