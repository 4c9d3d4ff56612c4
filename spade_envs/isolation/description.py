"""What a worker says of a design and of its instances, checked, and built anew in the host."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from gymnasium import spaces

from spade_envs.contract import Finding, Header
from spade_envs.isolation.spaces import build

RENDER_FPS = 4
"""Supplied where a design says nothing: Gymnasium wants a number."""


class DeclarationError(Exception):
    """An instance declares something that the contract does not allow."""


@dataclass(frozen=True, slots=True)
class Description:
    """A design that was compiled in a worker.

    Attributes:
        header: the source's header.
        class_name: name of the environment's class.
    """

    header: Header
    class_name: str


@dataclass(frozen=True, slots=True)
class InstanceInfo:
    """What an instance in a worker declares, checked and built anew in the host.

    Attributes:
        index: number by which the worker's methods know it.
        observation_space: the host's own space.
        action_space: the host's own space.
        rules: the class's docstring, dedented.
        action_names: words for the actions of a ``Discrete`` space, in order.
        tools: function schemas in OpenAI's form; empty unless the class is a ``ToolEnv``.
        metadata: ``render_modes`` and ``render_fps``, as Gymnasium wants them.
        has_render: whether the class defines ``render``.
    """

    index: int
    observation_space: spaces.Space[Any]
    action_space: spaces.Space[Any]
    rules: str
    action_names: tuple[str, ...] | None
    tools: list[dict[str, Any]]
    metadata: dict[str, Any]
    has_render: bool


def finding_of(data: dict[str, Any]) -> Finding:
    """Return a refusal as a worker reports it; raises TypeError where it is none."""
    finding = Finding(**{**data, "severity": "refuse"})
    texts = (finding.rule, finding.found, finding.remedy)
    numbers = (finding.line, finding.column)
    if all(type(text) is str for text in texts) and all(type(n) in (int, type(None)) for n in numbers):
        return finding
    raise TypeError


def instance_info(index: Any, data: Any) -> InstanceInfo:
    """Return an instance's declaration.

    Raises:
        DeclarationError: the contract does not allow it.
        SpaceError: a space is none that the contract knows.
        TypeError: it is malformed; likewise KeyError and ValueError.
    """
    if type(index) is not int or type(data) is not dict:
        raise TypeError
    if type(data["rules"]) is not str or type(data["has_render"]) is not bool:
        raise TypeError
    action_space = build(data["action_space"])
    return InstanceInfo(
        index=index,
        observation_space=build(data["observation_space"]),
        action_space=action_space,
        rules=data["rules"],
        action_names=_action_names(data["action_names"], action_space),
        tools=_tools(data["tools"]),
        metadata={"render_modes": ["ansi"], "render_fps": _fps(data["render_fps"])},
        has_render=data["has_render"],
    )


def _action_names(names: Any, space: spaces.Space[Any]) -> tuple[str, ...] | None:
    if names is None:
        return None
    if not isinstance(space, spaces.Discrete):
        raise DeclarationError("action_names are for Discrete action spaces only")
    if len(names) != space.n or any(type(name) is not str for name in names):
        raise DeclarationError(f"action_names must be {space.n} texts, one for each action")
    return tuple(names)


def _tools(tools: Any) -> list[dict[str, Any]]:
    if type(tools) is not list or any(type(tool) is not dict for tool in tools):
        raise TypeError
    return tools


def _fps(fps: Any) -> float:
    return fps if type(fps) in (int, float) and 0 < fps < math.inf else RENDER_FPS
