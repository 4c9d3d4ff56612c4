"""Answers that stand where a player may read them: in the observation, or in what the design tells beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from spade_envs.admission.evidence import Episode
from spade_envs.isolation import InstanceInfo

TOLD, SHOWN = "reads info", "reads the observation"
"""The names of policies that play what they read begin so."""
MOST_WORDS, MOST_NUMBERS = 60, 16
MOST_READINGS = 4
AGREES = 0.5  # of the expert's episodes: what agrees less often cannot win often


def sources(observation: Any, info: dict[str, Any]) -> dict[str, Any]:
    """Return what can be read, each under a name that says where it stands."""
    found = dict(_parts(SHOWN, observation))
    for key, value in info.items():
        found.update(_parts(f"{TOLD} {key!r}", value))
    return found


def _parts(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, (bool, int, float, np.generic)):
        yield name, value
    elif isinstance(value, str):
        yield name, value
        words = re.findall(r"[\w.-]*\w", value)[:MOST_WORDS]
        if len(words) > 1:
            yield from ((f"{name}, word {k + 1}", word) for k, word in enumerate(words))
            yield f"{name}, last word", words[-1]
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from _parts(f"{name}, {key!r}", part)
    elif isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.size <= MOST_NUMBERS):
        for k, part in enumerate(
            list(np.ravel(value)) if isinstance(value, np.ndarray) else value[:MOST_NUMBERS]
        ):
            yield from _parts(f"{name}, [{k}]", part)


def readings(experts: Sequence[Episode], instance: InstanceInfo) -> list[str]:
    """Return the names of the sources that show what the expert does first or last, the most telling ones."""
    agreed: dict[str, int] = {}
    shown = [e for e in experts if e.actions and e.first is not None]
    for episode in shown:
        wanted = [_as_text(episode.actions[k], instance) for k in (0, -1)]
        for name, value in sources(*episode.first).items():  # type: ignore[misc]
            agreed[name] = agreed.get(name, 0) + (_normal(value) in wanted)
    telling = [name for name, count in agreed.items() if count >= AGREES * len(shown) > 0]
    return sorted(telling, key=lambda name: -agreed[name])[:MOST_READINGS]


def action_from(value: Any, instance: InstanceInfo) -> Any:
    """Return what was read as an action, or None where it is none."""
    if instance.tools:
        return {"name": "finish", "arguments": {"answer": str(value)}}
    if isinstance(instance.action_space, spaces.Text):
        action: Any = str(value)
    elif isinstance(instance.action_space, spaces.Discrete) and _normal(value).lstrip("-").isdigit():
        action = int(_normal(value))
    else:
        return None
    return action if instance.action_space.contains(action) else None


def _as_text(action: Any, instance: InstanceInfo) -> str:
    if instance.tools:
        return (
            _normal(action.get("arguments", {}).get("answer", "")) or "\0"
            if isinstance(action, dict)
            else "\0"
        )
    return _normal(action) if isinstance(action, (str, int, np.integer)) else "\0"  # no source says that


def _normal(value: Any) -> str:
    return str(value).strip().lower()
