"""The text face: rules, observations and actions as a language model reads and writes them.

A reply without a readable action is answered with what is expected, and costs a turn like any other.
"""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium as gym
from gymnasium import spaces

from spade_envs.contract.text_space import UnicodeText
from spade_envs.errors import UsageError
from spade_envs.registry.gym_registration import install
from spade_envs.spoken import UnreadableError
from spade_envs.text_face import ActionFormat, TextFace

ACTION_LENGTH = 8_192
OBSERVATION_LENGTH = 32_768


class TextEnv(gym.Wrapper[str, str, Any, Any]):
    """An environment whose observations and actions are text.

    Args:
        env: an environment of the registry, as ``gymnasium.make`` returns it.
        action_format: ``"xml"`` (``<answer>...</answer>``), ``"boxed"`` (``\\boxed{...}``), ``"tool_call"``
            (``<tool_call>{...}</tool_call>``) or ``"raw"`` (the whole reply).

    Raises:
        UsageError: an unknown format, or an environment that has no text face.
    """

    def __init__(self, env: gym.Env[Any, Any], action_format: ActionFormat = "xml") -> None:
        if not hasattr(env.unwrapped, "describe"):
            raise UsageError(f"{env} has no text face; make it from the registry, or with IsolatedEnv")
        super().__init__(env)
        self._face = TextFace(
            action_format,
            env.action_space,
            env.get_wrapper_attr("action_names"),
            env.get_wrapper_attr("rules"),
            env.get_wrapper_attr("tools"),
        )
        self._turns = 0
        self._limit = env.spec.max_episode_steps if env.spec else None
        self.action_space = UnicodeText(ACTION_LENGTH)
        self.observation_space = UnicodeText(OBSERVATION_LENGTH)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Begin an episode and return its first text."""
        self._turns = 0
        observation, info = self.env.reset(seed=seed, options=options)
        return self._text(observation), info

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Take an agent's reply. A reply without a readable action changes nothing and costs a turn.

        ``info["invalid_action"]`` says whether it was one.
        """
        self._turns += 1
        over = self._limit is not None and self._turns >= self._limit
        try:
            native = self._face.read(action)
        except UnreadableError as error:
            return (
                self._face.unreadable(error),
                0.0,
                False,
                over,
                {"invalid_action": True, "is_success": False},
            )
        observation, reward, terminated, truncated, info = self.env.step(native)
        truncated = truncated or (over and not terminated)
        return (
            self._text(observation),
            float(reward),
            terminated,
            truncated,
            {"invalid_action": False, **info},
        )

    @property
    def turn_limit(self) -> int | None:
        """The turns of an episode, readable or not; None where they are not limited."""
        return self._limit

    @property
    def rules(self) -> str:
        """What to do, and how to write an action."""
        return self._face.rules

    @property
    def tools(self) -> list[dict[str, Any]]:
        """Function schemas for ``apply_chat_template(tools=...)``; empty where there is nothing to call.

        In the format ``"tool_call"`` an environment without tools of its own offers one that takes its action.
        """
        return self._face.tools

    def expected(self) -> str:
        """Say in one sentence how an action is written."""
        return self._face.expected()

    def format_action(self, action: Any) -> str:
        """Return what an agent would write to take a native action."""
        return self._face.format_action(action)

    def hint(self) -> str:
        """Return privileged help for the present episode."""
        return str(self.env.get_wrapper_attr("hint")())

    def expert_text(self) -> str:
        """Return what an expert would write in the present state."""
        return self.format_action(self.env.get_wrapper_attr("expert_action")())

    def render(self) -> str:
        """Return the state as text."""
        return str(self.env.get_wrapper_attr("describe")())

    def _text(self, observation: Any) -> str:
        text = observation if isinstance(self.env.observation_space, spaces.Text) else self.render()
        return str(text)[:OBSERVATION_LENGTH]


def make_text(env_id: str, *, action_format: ActionFormat = "xml", **arguments: Any) -> TextEnv:
    """Make an environment of the registry with its text face, also one that another process has just admitted.

    Args:
        env_id: for example ``"spade/LampRow-v0"``.
        action_format: see :class:`TextEnv`.
        **arguments: for ``gymnasium.make``, for example ``difficulty=2``.
    """
    install()
    with warnings.catch_warnings():  # an older version is asked for on purpose
        warnings.filterwarnings("ignore", ".*is out of date", DeprecationWarning)
        return TextEnv(gym.make(env_id, **arguments), action_format)
