"""What a design returns, as the contract has it: values in their types, or a fault that says what was found."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from spade_envs.errors import WorkerFault
from spade_envs.isolation.conform import OutsideError

StepResult = tuple[Any, float, bool, bool, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Turn:
    """One step of an episode and what came of it.

    Attributes:
        action: as the action space has it.
        observation: as the observation space has it.
        reward: finite.
        terminated: whether the design ended the episode.
        truncated: whether the design cut it off.
        info: what it said beside.
        view: the state's text (None where the design renders none) and hint, where they were asked for.
    """

    action: Any
    observation: Any
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]
    view: tuple[str | None, str] | None = None

    @property
    def over(self) -> bool:
        """Whether the episode ended here."""
        return self.terminated or self.truncated


def unusual_step(values: list[Any]) -> StepResult:
    """Return what a step said with NumPy's numbers, or with containers in its info."""
    observation, reward, terminated, truncated, info = values
    return (
        observation,
        _reward(reward),
        _flag("terminated", terminated),
        _flag("truncated", truncated),
        info_of("step", info),
    )


def text_of(call: str, text: Any) -> str:
    """Return what a call returned where it is text."""
    if isinstance(text, str):
        return text
    raise WorkerFault("contract", f"{call}: it must return text, found {type(text).__name__}")


def _reward(reward: Any) -> float:
    if isinstance(reward, (int, float, np.number, np.bool_)) and math.isfinite(reward):
        return float(reward)
    raise no_reward(reward)


def no_reward(reward: Any) -> WorkerFault:
    """Return the fault that a reward is."""
    return WorkerFault("contract", f"step: the reward must be a finite float, found {_shown(reward)}")


def _flag(name: str, value: Any) -> bool:
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise WorkerFault("contract", f"step: {name} must be a bool, found {_shown(value)}")


def info_of(call: str, info: Any) -> dict[str, Any]:
    """Return a call's info where it is a dict."""
    if type(info) is dict:
        return info
    raise WorkerFault("contract", f"{call}: info must be a dict, found {type(info).__name__}")


def tool_call(value: Any) -> Any:
    """Check an action of a tool-use environment: text, or the parsed object."""
    if isinstance(value, (str, dict, list)):
        return value
    raise OutsideError(f"{type(value).__name__} is no tool call: a JSON object is, as text or parsed")


def _shown(value: Any) -> str:
    return f"{type(value).__name__} {str(value)[:40]}"
