"""Small designs for tests: one template, of which each test changes the line that it is about."""

from __future__ import annotations

from textwrap import indent

from spade_envs.contract import Rejection
from spade_envs.isolation import Worker

HEADER = """\
# /// spade
# id = "spade/Sample-v0"
# title = "Sample"
# summary = "A small environment for tests."
# domain = "games"
# skills = ["counting"]
# origin = "seed"
# max_episode_steps = 20
# license = "Apache-2.0"
# contract = 1
# ///
import random

import gymnasium as gym
import numpy as np
from gymnasium import spaces
"""

_CLASS = '''

class Sample(gym.Env):
    """Add up the numbers.

    Say the sum.
    """

    def __init__(self, render_mode=None, bonus=0):
        self.render_mode = render_mode
        self.action_space = {action_space}
        self.observation_space = {observation_space}
        self._turn = bonus
{init}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._turn, self._secret = 0, int(self.np_random.integers(8))
{reset}
        return {observation}, {{"secret": self._secret}}

    def step(self, action):
        self._turn += 1
{step}
        return {observation}, {reward}, self._turn >= 8, False, {info}

    def render(self):
{render}
        return f"turn {{self._turn}}"

    def hint(self):
{hint}
        return "Count."

    def expert_action(self):
{expert}
        return {expert_action}
'''


def prepared(worker: Worker, **parts: str) -> int:
    """Load a design into a worker, make one instance, and return its number."""
    loaded = worker.load(design(**parts))
    assert not isinstance(loaded, Rejection), loaded.text()
    return worker.make().index


def design(
    *,
    module: str = "",
    action_space: str = "spaces.Discrete(8)",
    observation_space: str = "spaces.Discrete(9)",
    observation: str = "self._turn",
    reward: str = "0.0",
    info: str = '{"is_success": False}',
    expert_action: str = "self._secret",
    init: str = "pass",
    reset: str = "pass",
    step: str = "pass",
    render: str = "pass",
    hint: str = "pass",
    expert: str = "pass",
) -> str:
    """Return a source; ``init`` to ``expert`` are statements at the start of their methods."""
    bodies = {"init": init, "reset": reset, "step": step, "render": render, "hint": hint, "expert": expert}
    return (
        HEADER
        + module
        + _CLASS.format(
            action_space=action_space,
            observation_space=observation_space,
            observation=observation,
            reward=reward,
            info=info,
            expert_action=expert_action,
            **{name: indent(body, " " * 8) for name, body in bodies.items()},
        )
    )


ENDLESS = "while True:\n    pass"
