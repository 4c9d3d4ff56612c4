"""Runs of `spade-train` in processes that can be killed at any moment."""

from __future__ import annotations

import contextlib
import errno
import os
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from spade_envs import Registry

LUCKY = '''\
# /// spade
# id = "spade/Lucky-v0"
# title = "Lucky"
# summary = "Say anything; some of it wins."
# domain = "games"
# skills = ["luck"]
# origin = "seed"
# max_episode_steps = 2
# license = "Apache-2.0"
# contract = 1
# ///
import gymnasium as gym
from gymnasium import spaces


class Lucky(gym.Env):
    """Say anything."""

    def __init__(self, render_mode=None):
        self.render_mode = render_mode
        letters = "".join(chr(n) for n in range(32, 127))
        self.action_space = spaces.Text(200, min_length=0, charset=letters)
        self.observation_space = spaces.Text(20, charset=letters)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._number = int(self.np_random.integers(10))
        self._turn = 0
        return f"It is {self._number}.", {}

    def step(self, action):
        self._turn += 1
        won = (len(action) + self._number) % 3 == 0
        done = self._turn == 2
        reward = float(won) if done else len(action) % 5 / 100
        return f"It is {self._number}.", reward, done, False, {"is_success": won and done}

    def hint(self):
        return "Count the letters."

    def expert_action(self):
        return "x" * (3 - self._number % 3)
'''
"""An environment that a random model wins at times, so that every block has something to learn from."""


def lucky_registry(folder: Path) -> Path:
    """Write a registry with that environment alone; nothing has judged it."""
    registry = Registry(folder)
    registry.add(LUCKY, {})
    return folder


def flags(model: Path, runs: Path, name: str, rounds: int) -> list[str]:
    """Return the words of a run of two designs, played twice, in every other round: three of four are admitted."""
    return (
        f"--model_name_or_path {model} --runs {runs} --run_name {name} --rounds {rounds} --num_generations 2 "
        "--per_device_train_batch_size 3 --max_completion_length 120 --turn_tokens 6 --learning_rate 1e-2 "
        "--upper_layers 1 --bf16 false --curriculum spade/Lucky-v0 --action_format raw --admission_jobs 1 "
        "--schedule alternate --designer_every 2 --designer_reward regret diversity=0.5 --seed 6"
    ).split()


class Started:
    """A `spade-train` in a process of its own, which leaves nothing with the process of the tests."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def exitcode(self) -> int | None:
        return self._process.poll()

    def join(self, seconds: float) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


def start(words: Sequence[str], registry: Path, output: Path, full_after: int | None = None) -> Started:
    """Start `spade-train` with these words.

    Args:
        words: the command line.
        registry: the user's registry.
        output: the file that takes what it prints.
        full_after: how many times it may see a file onto the disk before that is full.
    """
    paths = os.pathsep.join(filter(None, sys.path))
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "SPADE_REGISTRY": str(registry),
        "PYTHONPATH": paths,
        "SPADE_FULL_AFTER": "" if full_after is None else str(full_after),
    }
    with output.open("ab") as file:
        command = [sys.executable, __file__, *words]
        return Started(subprocess.Popen(command, env=environment, stdout=file, stderr=file))


def killed(words: Sequence[str], registry: Path, output: Path, seconds: float) -> bool:
    """Run the command; kill it after so many seconds. Return whether it had to be killed."""
    process = start(words, registry, output)
    process.join(seconds)
    alive = process.exitcode is None
    if alive:
        process.kill()
    return alive


def kill_when(process: Started, path: Path, seconds: float = 0.0, patience: float = 300.0) -> None:
    """Kill a run so many seconds after this file or folder has appeared in it."""
    wait_for(path, process, patience)
    process.join(seconds)
    assert process.exitcode is None, "the run was faster than the kill"
    process.kill()


def wait_for(path: Path, process: Started, patience: float = 300.0) -> None:
    """Wait until a running process has made this file or folder."""
    end = time.monotonic() + patience
    while not path.exists():
        assert process.exitcode is None, f"the run ended before {path.name} was there"
        assert time.monotonic() < end, f"{path.name} does not come"
        time.sleep(0.02)


def descendants(pid: int) -> list[int]:
    """Return the processes that this one has started, and those that they have."""
    parents: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
            parents.setdefault(parent, []).append(int(stat.parent.name))
    found, queue = [], [pid]
    while queue:
        mine = parents.get(queue.pop(), [])
        found += mine
        queue += mine
    return found


def _fill_the_disk(after: int) -> None:
    left, fsync = [after], os.fsync

    def full(descriptor: int) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        fsync(descriptor)

    os.fsync = full


if __name__ == "__main__":
    import torch

    torch.set_num_threads(1)
    if after := os.environ["SPADE_FULL_AFTER"]:
        _fill_the_disk(int(after))
    random.seed(os.getpid())  # nothing may depend on it
    from spade_train.cli import main

    main(sys.argv[1:])
