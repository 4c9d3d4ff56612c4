"""Who plays for the oracles."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from gymnasium import spaces

from mutation.playing import Play, Policy, View

_WORDS = ("yes", "no", "0", "1", "12", "off", "all", "done")
FINISH = {"name": "finish", "arguments": {"answer": ""}}


def expert(view: View) -> Iterator[Any]:
    """Do what the design's own expert says."""
    while True:
        yield view.ask("expert_action")


def random(view: View) -> Iterator[Any]:
    """Draw each action anew."""
    while True:
        yield drawn(view.info.action_space, view.info.tools, view.rng)


def half_random(view: View) -> Iterator[Any]:
    """Follow the expert every other time."""
    for good, bad in zip(expert(view), random(view), strict=False):
        yield good if view.rng.random() < 0.5 else bad


@cache
def hold(action: str) -> Policy:
    """Repeat one action, given as :func:`frozen` writes it."""

    def policy(_: View) -> Iterator[Any]:
        while True:
            yield thawed(action)

    return policy


def edge(at: int) -> Policy:
    """Hold the at-th of a few plain actions of the space."""
    return _EDGES[at]


def _edge(at: int) -> Policy:
    def policy(view: View) -> Iterator[Any]:
        actions = plain_actions(view)
        while at < len(actions):
            yield actions[at]

    return policy


EDGE_COUNT = 12
_EDGES = tuple(_edge(at) for at in range(EDGE_COUNT))


def plain_actions(view: View) -> list[Any]:
    """Return actions that somebody might repeat: ends of the space, a finish, empty and short texts."""
    space, tools = view.info.action_space, view.info.tools
    if tools:
        rng = np.random.default_rng(3)
        return [
            FINISH,
            *(_call(tool["function"], rng) for tool in tools if tool["function"]["name"] != "finish"),
        ]
    if isinstance(space, spaces.Discrete):
        inner = np.linspace(space.start, space.start + space.n - 1, EDGE_COUNT)
        return list(dict.fromkeys(int(value) for value in inner))
    if isinstance(space, spaces.Text):
        return [text for text in ("", *_WORDS) if space.contains(text)]
    return [_end(space, 0), _end(space, 1)]


def _end(space: spaces.Space[Any], side: int) -> Any:
    if isinstance(space, spaces.Discrete):
        return int(space.start + side * (space.n - 1))
    if isinstance(space, spaces.MultiDiscrete):
        return (space.start + side * (space.nvec - 1)).astype(space.dtype)
    if isinstance(space, spaces.MultiBinary):
        return np.full(space.shape, side, space.dtype)
    if isinstance(space, spaces.Box):
        return np.clip((space.low, space.high)[side], -1e6, 1e6).astype(space.dtype)
    if isinstance(space, spaces.Dict):
        return {key: _end(part, side) for key, part in space.items()}
    return tuple(_end(part, side) for part in space)  # type: ignore[attr-defined]


def drawn(space: spaces.Space[Any], tools: Sequence[Mapping[str, Any]], rng: np.random.Generator) -> Any:
    """Draw an action; half of the texts are short words, since long garbage hits nothing."""
    if tools:
        return _call(tools[int(rng.integers(len(tools)))]["function"], rng)
    if isinstance(space, spaces.Text) and rng.random() < 0.5:
        words = [word for word in _WORDS if space.contains(word)]
        if words:
            return words[int(rng.integers(len(words)))]
    space.seed(int(rng.integers(2**31)))
    action = space.sample()
    return int(action) if isinstance(space, spaces.Discrete) else _ints(action, space)


def _ints(action: Any, space: spaces.Space[Any]) -> Any:
    if isinstance(space, spaces.Dict):
        return {key: _ints(action[key], part) for key, part in space.items()}
    return int(action) if isinstance(space, spaces.Discrete) else action


def _call(function: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    properties = function.get("parameters", {}).get("properties", {})
    return {
        "name": function["name"],
        "arguments": {key: _value(part, rng) for key, part in properties.items()},
    }


def _value(schema: Mapping[str, Any], rng: np.random.Generator) -> Any:
    choices: Any = schema.get("enum") or {
        "integer": [0, 1, 2, 7, 12, 101, -1],
        "number": [0.0, 1.5, -2.0],
        "boolean": [True, False],
        "array": [[], [1]],
        "object": [{}],
    }.get(str(schema.get("type")), list(_WORDS))
    return choices[int(rng.integers(len(choices)))]


def replay(actions: Sequence[Any]) -> Policy:
    """Play given actions."""
    return lambda _: iter(actions)


def spoilt(change: Callable[[list[Any], np.random.Generator], list[Any]], play: Play) -> Policy:
    """Play another play's actions after a change."""
    return lambda view: iter(change(list(play.actions), view.rng))


def says(text: str) -> Policy:
    """Give one text as an answer, three times over."""

    def policy(view: View) -> Iterator[Any]:
        space = view.info.action_space
        if view.info.tools:
            yield {"name": "finish", "arguments": {"answer": text}}
        elif isinstance(space, spaces.Text) and space.contains(text[: space.max_length]):
            yield from [text[: space.max_length]] * 3

    return policy


def hint_said(view: View) -> Iterator[Any]:
    """Give the hint as an answer."""
    return says(view.ask("hint"))(view)


def other_numbers(view: View) -> Iterator[Any]:
    """Follow the expert, but change every digit of its final answer."""
    for action in expert(view):
        if action.get("name") != "finish":
            yield action
            continue
        answer = action["arguments"].get("answer", "")
        text = json.dumps(answer)
        changed = re.sub(r"\d", lambda digit: str((int(digit[0]) + 1) % 9 + 1), text)
        if changed == text:
            return
        yield {"name": "finish", "arguments": {"answer": json.loads(changed)}}


def frozen(action: Any) -> str:
    """Write an action as text that tells its kind."""
    if isinstance(action, np.ndarray):
        return json.dumps({"array": action.tolist(), "dtype": str(action.dtype)})
    if isinstance(action, dict):
        return json.dumps({"dict": {key: frozen(value) for key, value in action.items()}})
    return json.dumps(action)


def thawed(text: str) -> Any:
    """Return the action that a text stands for."""
    value = json.loads(text)
    if isinstance(value, dict) and "array" in value:
        return np.array(value["array"], dtype=value["dtype"])
    if isinstance(value, dict) and "dict" in value:
        return {key: thawed(part) for key, part in value["dict"].items()}
    return value
