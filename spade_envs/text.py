"""The text face: rules, observations and actions as a language model reads and writes them.

An agent's reply may hold anything; its action is what stands last in the markup of the chosen format. A reply
without one is answered with what is expected, and costs a turn like any other.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import gymnasium as gym
from gymnasium import spaces

from spade_envs.contract.plain import from_json, to_json
from spade_envs.contract.text_space import UnicodeText
from spade_envs.errors import UsageError
from spade_envs.registry.gym_registration import install
from spade_envs.spoken import UnreadableError, expected, read_action, write_action

ActionFormat = Literal["boxed", "xml", "tool_call", "raw"]
ACTION_LENGTH = 8_192
OBSERVATION_LENGTH = 32_768

_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)
_ANSWER = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)
_CALL = re.compile(r"<tool_call>(.*?)</tool_call>", re.DOTALL)
_ACT = "act"


@dataclass(frozen=True, slots=True)
class _Format:
    """How an action is marked in a reply.

    Attributes:
        pattern: how the rules describe the markup.
        wrap: puts an action into the markup.
        unwrap: returns what the markup holds, last one first in line; None where there is no markup.
    """

    pattern: str
    wrap: Callable[[str], str]
    unwrap: Callable[[str], str | None]


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
        if action_format not in _FORMATS:
            raise UsageError(f"action_format {action_format!r} is unknown; use {', '.join(_FORMATS)}")
        if not hasattr(env.unwrapped, "describe"):
            raise UsageError(f"{env} has no text face; make it from the registry, or with IsolatedEnv")
        super().__init__(env)
        self._native = env.action_space
        self._names = env.get_wrapper_attr("action_names")
        self._docstring: str = env.get_wrapper_attr("rules")
        self._schemas: list[dict[str, Any]] = env.get_wrapper_attr("tools")
        self._by_call = action_format == "tool_call"
        self._format = _FORMATS[action_format]
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
            native = self._read(action)
        except UnreadableError as error:
            said = f"That is no action: {error}. {self.expected()}"
            return said, 0.0, False, over, {"invalid_action": True, "is_success": False}
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
        return f"{self._docstring}\n\n{self.expected()}"

    @property
    def tools(self) -> list[dict[str, Any]]:
        """Function schemas for ``apply_chat_template(tools=...)``; empty where there is nothing to call.

        In the format ``"tool_call"`` an environment without tools of its own offers one that takes its action.
        """
        return self._schemas or ([self._act()] if self._by_call else [])

    def expected(self) -> str:
        """Say in one sentence how an action is written."""
        what = "a JSON object with the keys name and arguments" if self._schemas else self._what()
        return (
            f"Reply as {self._format.pattern} with {what}." if self._format.pattern else f"Reply with {what}."
        )

    def format_action(self, action: Any) -> str:
        """Return what an agent would write to take a native action."""
        return self._format.wrap(self._call(action) if self._by_call else self._plain(action))

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

    def _read(self, reply: str) -> Any:
        held = self._format.unwrap(_THOUGHT.sub("", reply))
        if held is None:
            raise UnreadableError(f"there is no {self._format.pattern} in it")
        if not self._schemas:
            return read_action(_argument(held) if self._by_call else held, self._native, self._names)
        try:
            from_json(held)
        except ValueError as error:
            raise UnreadableError(f"it is no JSON ({error})") from None
        return read_action(held, self._native)

    def _what(self) -> str:
        if self._by_call:
            return (
                f'{{"name": "{_ACT}", "arguments": {{"action": ...}}}}, where ... is {self._native_words()}'
            )
        return self._native_words()

    def _native_words(self) -> str:
        return expected(self._native, self._names)

    def _plain(self, action: Any) -> str:
        return write_action(action, self._native, self._names)

    def _call(self, action: Any) -> str:
        if self._schemas:
            return self._plain(action)
        return to_json({"name": _ACT, "arguments": {"action": self._plain(action)}})

    def _act(self) -> dict[str, Any]:
        action = {"type": "string", "description": self._native_words()}
        parameters = {"type": "object", "properties": {"action": action}, "required": ["action"]}
        function = {"name": _ACT, "description": "Take one action.", "parameters": parameters}
        return {"type": "function", "function": function}


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


def _argument(held: str) -> str:
    """Return the action in a call of the one function that stands for all actions."""
    try:
        call = from_json(held)
        action = call["arguments"]["action"]
    except (ValueError, KeyError, TypeError) as error:
        raise UnreadableError(f"it is no call with an action ({error})") from None
    return action if isinstance(action, str) else to_json(action)


def _calls(reply: str) -> str | None:
    """Several calls in one reply are a JSON list of calls."""
    held = [call.strip() for call in _CALL.findall(reply)]
    return held[-1] if len(held) == 1 else f"[{', '.join(held)}]" if held else None


def _last_answer(reply: str) -> str | None:
    held = _ANSWER.findall(reply)
    return held[-1] if held else None


def _boxed(reply: str) -> str | None:
    """Return what the last box holds: up to the brace that closes it or, where none does, the last one."""
    head, mark, rest = reply.rpartition("\\boxed{")
    if not mark:
        return None
    if not head.strip() and rest.rstrip().endswith("}"):
        return rest.rstrip()[:-1]  # the reply is the box: braces inside need not match
    depth = 1
    for index, character in enumerate(rest):
        depth += (character == "{") - (character == "}")
        if not depth:
            return rest[:index]
    return None


_FORMATS: dict[str, _Format] = {
    "boxed": _Format("\\boxed{...}", lambda action: f"\\boxed{{{action}}}", _boxed),
    "xml": _Format("<answer>...</answer>", lambda action: f"<answer>{action}</answer>", _last_answer),
    "tool_call": _Format("<tool_call>...</tool_call>", lambda call: f"<tool_call>{call}</tool_call>", _calls),
    "raw": _Format("", str, str),
}
assert set(_FORMATS) == set(get_args(ActionFormat))
