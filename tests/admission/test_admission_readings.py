"""What stands where a player may read it is read, however it is written."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from gymnasium import spaces

from spade_envs.admission.readings import action_from, sources

CALL = {"name": "run", "arguments": {"command": "grep 8015 /"}}
TOOLS: Any = SimpleNamespace(tools=[{"function": {"name": "run"}}], action_space=spaces.Text(10))


@pytest.mark.parametrize("written", [json.dumps(CALL), repr(CALL), json.dumps(CALL, indent=1)])
@pytest.mark.parametrize("before", ["", "The log {service: web} says:\n", "{'a': 1} and then "])
@pytest.mark.parametrize("after", ["", ".", " )\n"])
def test_a_call_at_the_end_of_a_text_is_read(written: str, before: str, after: str) -> None:
    read = sources(before + written + after, {})
    assert CALL in [action_from(value, TOOLS) for value in read.values()]


@pytest.mark.parametrize(
    "text", ["{" * 500, "no object here", "{'a': 1} is not the end", "{x} {y}", "{1: [" + "(" * 300]
)
def test_what_is_no_object_is_left_alone(text: str) -> None:
    assert not [name for name in sources(text, {}) if "object" in name]
