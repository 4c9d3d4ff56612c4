"""Actions of every kind of space: random ones, spoilt ones, held ones, and how an agent would write them.

The generator that is passed in belongs to admission. It is independent of the design's seed: a policy that
draws alike would play perfectly against a design that leaks its random numbers.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from spade_envs.contract.plain import plain

KINDS = 6  # ways to spoil a text or a call
MAX_TEXT = 40  # characters of a random text: short ones hit more often, so they are the harder test
WORDS = (
    "yes",
    "no",
    "done",
    "0",
    "1",
    "7",
    "42",
    "left",
    "up",
    "a",
    "help",
    "all",
    "none",
    "x1",
    "2024-01-01",
)
ODD_TEXTS = (
    "",
    " ",
    "0",
    "-1",
    "\u00e9\u4e16\U0001f600",
    "{}",
    "[1, 2",
    "1/0",
    "%s %n",
    "a" * 300,
    "\n",
    "None",
)
ODD_NUMBERS = (0, -1, 1, 10**9, -(10**9), 2**63)

Tools = Sequence[Mapping[str, Any]]


def sample(space: spaces.Space[Any], tools: Tools, rng: np.random.Generator) -> Any:
    """Draw one action uniformly; for tools, a call that fits the schemas, or a bare text one time in ten."""
    if tools:
        return call(tools, rng) if rng.random() < 0.9 else text(rng)
    if isinstance(space, spaces.Text):
        return text(rng, space)
    if isinstance(space, spaces.Discrete):
        return int(space.start + rng.integers(space.n))
    if isinstance(space, spaces.Dict):
        return {name: sample(part, (), rng) for name, part in space.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(sample(part, (), rng) for part in space)
    if isinstance(space, spaces.MultiDiscrete):
        return (space.start + rng.integers(space.nvec)).astype(space.dtype)
    if isinstance(space, spaces.MultiBinary):
        return rng.integers(2, size=space.shape, dtype=np.int8)
    space.seed(int(rng.integers(2**31)))  # a box, bounded or not
    return space.sample()


def text(rng: np.random.Generator, space: spaces.Text | None = None) -> str:
    """Draw a text of uniform length from the space's characters."""
    characters = space.characters if space else "abcdefghij 0123456789"
    low, high = (space.min_length, space.max_length) if space else (0, MAX_TEXT)
    length = int(rng.integers(low, max(low, min(high, MAX_TEXT)) + 1))
    return "".join(characters[int(k)] for k in rng.integers(max(1, len(characters)), size=length))


def call(tools: Tools, rng: np.random.Generator) -> dict[str, Any]:
    """Draw a tool call whose arguments fit the tool's schema."""
    function = tools[int(rng.integers(len(tools)))]["function"]
    schema = function.get("parameters", {})
    needed = schema.get("required", [])
    arguments = {
        name: value(part, rng)
        for name, part in schema.get("properties", {}).items()
        if name in needed or rng.random() < 0.5
    }
    return {"name": function["name"], "arguments": arguments}


def value(schema: Mapping[str, Any], rng: np.random.Generator) -> Any:
    """Draw a JSON value that fits a schema of the kinds that tools have."""
    if "enum" in schema:
        return schema["enum"][int(rng.integers(len(schema["enum"])))]
    if "anyOf" in schema:
        return value(schema["anyOf"][int(rng.integers(len(schema["anyOf"])))], rng)
    kind = schema.get("type", "string")
    kind = kind[int(rng.integers(len(kind)))] if isinstance(kind, list) else kind
    match kind:
        case "integer":
            return int(rng.integers(-2, 20)) if rng.random() < 0.7 else int(rng.integers(1000))
        case "number":
            return round(float(rng.normal(0, 20)), 2)
        case "boolean":
            return bool(rng.integers(2))
        case "array":
            return [value(schema.get("items", {}), rng) for _ in range(int(rng.integers(4)))]
        case "object":
            return {WORDS[int(k)]: int(k) for k in rng.integers(len(WORDS), size=int(rng.integers(3)))}
        case "null":
            return None
        case _:
            return WORDS[int(rng.integers(len(WORDS)))]


def spoilt(action: Any, space: spaces.Space[Any], tools: Tools, rng: np.random.Generator, kind: int) -> Any:
    """Return an action near a good one that is legal and odd: digits made 0, ends of ranges and the like.

    Texts and calls are spoilt in one of ``KINDS`` ways, chosen by ``kind``.
    """
    if tools:
        return _spoilt_call(action, rng, kind)
    odd = _spoilt(action, space, rng, kind)
    return odd if space.contains(odd) else action


def _spoilt(action: Any, space: spaces.Space[Any], rng: np.random.Generator, kind: int) -> Any:
    if isinstance(action, str):
        return _spoilt_text(action, rng, kind)
    if isinstance(space, spaces.Dict):
        return {name: _spoilt(action[name], part, rng, kind) for name, part in space.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(_spoilt(item, part, rng, kind) for item, part in zip(action, space, strict=True))
    edge = edges(space)[int(rng.integers(2))]
    if isinstance(space, spaces.Discrete):
        return edge
    return np.where(rng.random(np.shape(edge)) < 0.5, edge, action).astype(space.dtype)


def edges(space: spaces.Space[Any]) -> tuple[Any, Any]:
    """Return the least and the greatest action of a numeric space; unbounded sides are cut at 1e6."""
    if isinstance(space, spaces.Discrete):
        return int(space.start), int(space.start + space.n - 1)
    if isinstance(space, spaces.MultiDiscrete):
        return space.start.astype(space.dtype), (space.start + space.nvec - 1).astype(space.dtype)
    if isinstance(space, spaces.MultiBinary):
        return np.zeros(space.shape, space.dtype), np.ones(space.shape, space.dtype)
    if isinstance(space, spaces.Box):
        return tuple(np.clip(side, -1e6, 1e6).astype(space.dtype) for side in (space.low, space.high))  # type: ignore[return-value]
    if isinstance(space, spaces.Dict):
        low, high = ({name: edges(part)[side] for name, part in space.items()} for side in (0, 1))
        return low, high
    if isinstance(space, spaces.Tuple):
        return tuple(edges(part)[0] for part in space), tuple(edges(part)[1] for part in space)
    return ("", "") if space.contains("") else (sample(space, (), np.random.default_rng(0)),) * 2


def held(space: spaces.Space[Any], tools: Tools, rng: np.random.Generator, most: int = 8) -> list[Any]:
    """Return actions that are worth repeating for a whole episode, at most so many."""
    if tools:
        return [{"name": "finish", "arguments": {}}, *(_plain_call(tool, rng) for tool in tools)][:most]
    if isinstance(space, spaces.Discrete):
        count = int(space.n)
        return sorted(
            {
                int(space.start) + k * (count - 1) // max(1, min(count, most) - 1)
                for k in range(min(count, most))
            }
        )
    if isinstance(space, spaces.Text):
        return [odd for odd in ("", *WORDS[:4]) if space.contains(odd)] or [text(rng, space)]
    low, high = edges(space)
    return [low, high, *(sample(space, tools, rng) for _ in range(2))]


def _plain_call(tool: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    function = tool["function"]
    schema = function.get("parameters", {})
    needed = {name: value(schema["properties"][name], rng) for name in schema.get("required", [])}
    return {"name": function["name"], "arguments": needed}


def _spoilt_text(action: str, rng: np.random.Generator, kind: int) -> str:
    match kind % KINDS:
        case 0:
            return re.sub(r"\d", "0", action)
        case 1:
            return re.sub(r"\d+", lambda _: str(int(rng.integers(10**6))), action)
        case 2:
            return action[: len(action) // 2]
        case 3:
            return f"{action} {action}"
        case 4:
            return re.sub(r"\w", lambda m: m[0].swapcase(), action)
        case _:
            return ODD_TEXTS[int(rng.integers(len(ODD_TEXTS)))]


def _spoilt_call(action: Any, rng: np.random.Generator, kind: int) -> Any:
    arguments = dict(action.get("arguments", {}))
    names = sorted(arguments)
    name = names[int(rng.integers(len(names)))] if names else None
    match kind % KINDS:
        case 0 if name:
            arguments[name] = _odd_like(arguments[name], rng)
        case 1:
            return {"name": action["name"] + "_", "arguments": arguments}
        case 2:
            return json.dumps(plain(action))[:-3]
        case 3 if name:
            del arguments[name]
        case 4 if name:
            arguments[name] = ODD_TEXTS[int(rng.integers(len(ODD_TEXTS)))]
        case 5 if name:
            arguments[name] = [ODD_NUMBERS[int(rng.integers(len(ODD_NUMBERS)))]]
        case _:
            arguments["surplus"] = 1
    return {"name": action["name"], "arguments": arguments}


def _odd_like(old: Any, rng: np.random.Generator) -> Any:
    """An odd value of the same JSON kind."""
    if isinstance(old, str):
        return _spoilt_text(old, rng, int(rng.integers(KINDS)))
    if isinstance(old, (bool, list, dict)) or old is None:
        return type(old)() if old is not None else ""
    return ODD_NUMBERS[int(rng.integers(len(ODD_NUMBERS)))]


def wrong(answer: Any, rng: np.random.Generator) -> Any:
    """Return an answer of the same shape with every number changed; the same one where it holds no number."""
    if isinstance(answer, str):
        return re.sub(r"\d", lambda m: str((int(m[0]) + int(rng.integers(8))) % 9 + 1), answer)
    if isinstance(answer, dict):
        return {key: wrong(item, rng) for key, item in answer.items()}
    if isinstance(answer, list):
        return [wrong(item, rng) for item in answer]
    if isinstance(answer, (int, float)) and not isinstance(answer, bool):
        return answer + int(rng.integers(1, 10))
    return answer


def size(space: spaces.Space[Any]) -> float:
    """Return how many actions there are, infinite for texts and continuous boxes."""
    if isinstance(space, spaces.Discrete):
        return float(space.n)
    if isinstance(space, spaces.MultiDiscrete):
        return float(math.prod(space.nvec.ravel().tolist()))
    if isinstance(space, spaces.MultiBinary):
        return float(2 ** math.prod(space.shape))
    if isinstance(space, spaces.Dict):
        return math.prod(size(part) for part in space.values())
    if isinstance(space, spaces.Tuple):
        return math.prod(size(part) for part in space)
    return math.inf
