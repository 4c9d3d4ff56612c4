"""A worker's life: what is loaded before it is forked, and the loop that answers the host."""

from __future__ import annotations

import os
from typing import NoReturn

from spade_envs.isolation import wire
from spade_envs.isolation.limits import Limits
from spade_envs.isolation.mailbox import Mailbox
from spade_envs.isolation.session import Session


def serve(mailbox: Mailbox, asked: int, answered: int, limits: Limits) -> NoReturn:
    """Answer the host until the zygote ends this process."""
    session = Session(limits, mailbox.places)
    while True:
        os.eventfd_read(asked)
        number, message = mailbox.asked()
        mailbox.answer(number, reply_to(message, session))
        os.eventfd_write(answered, 1)


def reply_to(message: bytes, session: Session) -> bytes:
    """Return the reply to a request, whatever becomes of it."""
    try:
        return session.answer(message)
    except BaseException as error:  # SystemExit and its like are the design's too
        return session.complain(error)


def warm_up() -> None:
    """Take a design through its first calls, so that a forked worker finds everything loaded."""
    session = Session(Limits())
    for request in (
        ["load", _SAMPLE, None],
        ["make", {}],
        ["reset", 0, 0, None],
        ["step", 0, 0],
        ["render", 0],
    ):
        session.answer(wire.encode(request))


_SAMPLE = '''\
# /// spade
# id = "spade/WarmUp-v0"
# title = "Warm-up"
# summary = "Does nothing."
# domain = "games"
# skills = ["waiting"]
# origin = "seed"
# max_episode_steps = 1
# license = "Apache-2.0"
# contract = 1
# ///
import gymnasium as gym
import numpy as np
from gymnasium import spaces


class WarmUp(gym.Env):
    """Do nothing."""

    def __init__(self, render_mode=None):
        self.action_space = spaces.Discrete(2)
        self.observation_space = spaces.Box(0, 1, (2,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.np_random.random(2).astype(np.float32), {}

    def step(self, action):
        return np.zeros(2, np.float32), 0.0, True, False, {"is_success": True}

    def render(self):
        return f"{self.np_random.integers(2)}"

    def hint(self):
        return "Wait."

    def expert_action(self):
        return 0
'''
