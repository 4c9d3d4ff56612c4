"""How a language model reads rules and writes actions: the face that text environments have in common.

An agent's reply may hold anything; its action is what stands last in the markup of the chosen format.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from gymnasium import spaces

from spade_envs.contract.plain import from_json, to_json
from spade_envs.errors import UsageError
from spade_envs.spoken import UnreadableError, expected, read_action, write_action

ActionFormat = Literal["boxed", "xml", "tool_call", "raw"]

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


class TextFace:
    """Reads and writes the actions of one native space.

    Args:
        action_format: how an action is marked in a reply.
        native: the space of the actions.
        names: words for them, where the design gives them.
        docstring: the design's rules.
        schemas: function schemas of a tool-use environment; else empty.

    Raises:
        UsageError: an unknown format.
    """

    def __init__(
        self,
        action_format: ActionFormat,
        native: spaces.Space[Any],
        names: Sequence[str] | None,
        docstring: str,
        schemas: list[dict[str, Any]],
    ) -> None:
        if action_format not in _FORMATS:
            raise UsageError(f"action_format {action_format!r} is unknown; use {', '.join(_FORMATS)}")
        self._native, self._names, self._docstring, self._schemas = native, names, docstring, schemas
        self._by_call = action_format == "tool_call"
        self._format = _FORMATS[action_format]

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

    def read(self, reply: str) -> Any:
        """Return the native action in a reply; raise UnreadableError where there is none."""
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

    def unreadable(self, why: UnreadableError) -> str:
        """Return the answer to a reply that holds no action."""
        return f"That is no action: {why}. {self.expected()}"

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
