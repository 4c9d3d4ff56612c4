"""Answers that stand where a player may read them: in the observation, or in what the design tells beside it."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from spade_envs.admission.evidence import Episode
from spade_envs.contract.plain import plain
from spade_envs.isolation import InstanceInfo

TOLD, SHOWN = "reads info", "reads the observation"
"""The names of policies that play what they read begin so."""
MOST_WORDS, MOST_PARTS, MOST_STARTS = 60, 16, 12
MOST_READINGS = 4
_AGREES = {TOLD: 0.3, SHOWN: 0.8}
"""Share of the expert's episodes in which a source must say what it does: one that does less cannot win often."""
_PHRASES = {
    "the last line": re.compile(r"([^\n]+)\s*\Z"),
    "what follows the last colon": re.compile(r":\s*([^:]+?)[)\]}>.\"'\s]*\Z"),
    "the last brackets": re.compile(r"[(\[<]([^()\[\]<>]+)[)\]>]\W*\Z"),
    "the last quotation": re.compile(r"[\"'`]([^\"'`]+)[\"'`]\W*\Z"),
}


def sources(observation: Any, info: dict[str, Any]) -> dict[str, Any]:
    """Return what can be read, each under a name that says where it stands."""
    found = dict(_parts(SHOWN, observation))
    for key, value in info.items():
        found.update(_parts(f"{TOLD} {key!r}", value))
    return found


def _parts(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    yield name, value
    if isinstance(value, str):
        yield from _phrases(name, value)
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from _parts(f"{name}, {key!r}", part)
    elif isinstance(value, (list, tuple, np.ndarray)) and np.size(value) <= MOST_PARTS:
        for k, part in enumerate(np.ravel(value) if isinstance(value, np.ndarray) else value):
            yield from _parts(f"{name}, [{k}]", part)


def _phrases(name: str, text: str) -> Iterator[tuple[str, str]]:
    for place, pattern in _PHRASES.items():
        if (found := pattern.search(text)) is not None and found[1] != text:
            yield f"{name}, {place}", found[1]
    if (last := _last_object(text)) is not None and last != text:
        yield f"{name}, the last object", last
    words = re.findall(r"[\w.-]*\w", text)
    if len(words) > 1:
        yield from ((f"{name}, word {k + 1}", word) for k, word in enumerate(words[:MOST_WORDS]))
        yield f"{name}, the last word", words[-1]


def _last_object(text: str) -> str | None:
    """Return the widest object, as JSON or as Python writes it, that ends a text but for punctuation."""
    end = text.rfind("}") + 1
    if not end or re.search(r"\w", text[end:]):
        return None
    starts = [found.start() for found in re.finditer(r"\{", text[:end])][-MOST_STARTS:]
    return next((text[at:end] for at in starts if isinstance(_parsed(text[at:end]), dict)), None)


def readings(experts: Sequence[Episode], instance: InstanceInfo) -> list[str]:
    """Return the names of the sources that say what the expert does first or last, the most telling ones."""
    agreed: dict[str, int] = {}
    shown = [e for e in experts if e.actions and e.first is not None]
    for episode in shown:
        wanted = {text for k in (0, -1) for text in _said(episode.actions[k], instance)}
        for name, value in sources(*episode.first).items():  # type: ignore[misc]
            agreed[name] = agreed.get(name, 0) + (_normal(value) in wanted)
    least = {kind: share * len(shown) for kind, share in _AGREES.items()}
    telling = [name for name, count in agreed.items() if count >= max(1, least[_kind(name)])]
    return sorted(telling, key=lambda name: -agreed[name])[:MOST_READINGS]


def action_from(value: Any, instance: InstanceInfo) -> Any:
    """Return what was read as an action, or None where it is none."""
    if instance.tools:
        call = _parsed(value)
        named = isinstance(call, dict) and isinstance(call.get("name"), str)
        return call if named else {"name": "finish", "arguments": {"answer": str(value)}}
    space = instance.action_space
    if isinstance(space, spaces.Text):
        action: Any = str(value)
    elif isinstance(space, spaces.Discrete):
        action = int(_normal(value)) if _normal(value).lstrip("-").isdigit() else None
    else:
        action = np.asarray(value, space.dtype) if isinstance(value, (list, tuple, np.ndarray)) else value
    return action if action is not None and space.contains(action) else None


def _said(action: Any, instance: InstanceInfo) -> Iterator[str]:
    """Yield the texts that would say an action."""
    yield _normal(action)
    if instance.tools and isinstance(action, dict) and action.get("name") == "finish":
        yield _normal(action.get("arguments", {}).get("answer", action))


def _normal(value: Any) -> str:
    """Return the same text for values that mean the same."""
    value = _parsed(value)
    if isinstance(value, str):
        return value.strip().lower()
    return json.dumps(_rounded(plain(value)), sort_keys=True)


def _parsed(value: Any) -> Any:
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "[") and value:
        for text in (value, _as_json(value)):
            with contextlib.suppress(ValueError, RecursionError):
                return json.loads(text)
        return value
    return int(value) if isinstance(value, str) and re.fullmatch(r"-?\d{1,15}", value) else value


def _as_json(text: str) -> str:
    """Return what Python writes of plain data as JSON; Python's own parser is not for a stranger's text."""
    words = {"True": "true", "False": "false", "None": "null"}
    return re.sub(r"\b(True|False|None)\b", lambda found: words[found[0]], text.replace("'", '"'))


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(part) for part in value]
    if isinstance(value, dict):
        return {key: _rounded(part) for key, part in value.items()}
    return round(value, 4) if isinstance(value, float) else value


def _kind(name: str) -> str:
    return TOLD if name.startswith(TOLD) else SHOWN
