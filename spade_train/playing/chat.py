"""A conversation as the model's own chat template writes it.

The template is asked, never guessed at: what stands between two replies is cut out of a chat that it wrote.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from jinja2 import TemplateError

from spade_envs.errors import UsageError

_MARK = "%spoken%"
_OPEN_THOUGHT = re.compile(r"(<think>|<thinking>|\[THINK\])\s*\Z")
_THOUGHT = re.compile(r"(?:<think(?:ing)?>|\[THINK\]).*?(?:</think(?:ing)?>|\[/THINK\]|\Z)", re.DOTALL)
_CLOSE = {"<think>": "</think>", "<thinking>": "</thinking>", "[THINK]": "[/THINK]"}

Message = dict[str, str]


@dataclass(frozen=True)
class Chat:
    """A tokenizer's chat template.

    Attributes:
        settings: what the template is told besides the messages, such as ``enable_thinking``.
    """

    tokenizer: Any
    settings: Mapping[str, Any] = field(default_factory=dict)

    def ids(self, text: str) -> list[int]:
        """Return the tokens of a text that holds its own control tokens."""
        return list(self.tokenizer(text, add_special_tokens=False).input_ids)

    def render(self, messages: Sequence[Message], tools: Sequence[dict[str, Any]] = ()) -> str:
        """Return the chat up to where the model speaks.

        Tools go to the template where it knows them, else as JSON below the rules. Where it knows no system
        message, that stands above the first one of the user.
        """
        messages = list(messages)
        if tools and not self._knows("tools", tools):
            listed = "\n".join(json.dumps(tool.get("function", tool)) for tool in tools)
            messages[0] = {**messages[0], "content": f"{messages[0]['content']}\n\nTools:\n{listed}"}
            tools = ()
        if messages[0]["role"] == "system" and not self._has_system:
            system, first, *rest = messages
            messages = [{**first, "content": f"{system['content']}\n\n{first['content']}"}, *rest]
        try:
            return self._written(messages, tools)
        except TemplateError as problem:
            raise UsageError(f"The model's chat template refuses this chat: {problem}") from problem

    def between(self, observation: str, tools: Sequence[dict[str, Any]] = ()) -> str:
        """Return what stands between one reply and the next: end of turn, observation, new turn.

        With tools, the observation is a tool's answer where the template knows such messages.

        Raises:
            UsageError: the template does not write replies as they are.
        """
        role: Literal["tool", "user"] = "tool" if tools and self.has_tool_role else "user"
        return self._after(role, self.plain(observation))

    def reply(self, text: str, end: int) -> list[int]:
        """Return the tokens of a reply as a model would say them: closed as the template does, or by ``end``.

        A reply within a thought that the template has opened ends that thought first.
        """
        closed = _CLOSE.get(self._opening, "") + text
        return [*self.ids(closed), end if self.closing is None else self.closing]

    def plain(self, text: str) -> str:
        """Break up what would be read as a control token: an observation cannot end its own turn."""
        for token in self._controls:
            text = text.replace(token, f"{token[0]} {token[1:]}")
        return text

    def action(self, said: Sequence[int], stop: frozenset[int]) -> str:
        """Return what was said, without its end and without thoughts, those that the template opened included."""
        return self.action_of(self.said(said, stop))

    def said(self, tokens: Sequence[int], stop: frozenset[int]) -> str:
        """Return the text of a reply without its end."""
        tokens = tokens[:-1] if tokens and tokens[-1] in stop else tokens
        return str(self.tokenizer.decode(tokens))

    def action_of(self, reply: str) -> str:
        """Return a reply's text without thoughts, those that the template opened included."""
        return _THOUGHT.sub("", self._opening + reply)

    @cached_property
    def closing(self) -> int | None:
        """The token with which the template closes a reply; None where that is no token of its own."""
        first = self.ids(self._after("user", "-"))[0]
        return first if first in self.tokenizer.added_tokens_decoder else None

    @cached_property
    def _opening(self) -> str:
        """The tag of a thought that the template itself begins the reply with, or nothing."""
        found = _OPEN_THOUGHT.search(self._after("user", "-"))
        return found[1] if found else ""

    @cached_property
    def _has_system(self) -> bool:
        try:
            return _MARK in self._written(
                [{"role": "system", "content": _MARK}, {"role": "user", "content": "-"}]
            )
        except TemplateError:
            return False

    @cached_property
    def has_tool_role(self) -> bool:
        """Whether the template writes a tool's answers."""
        try:
            return self._knows('"tool"', ()) and "%seen%" in self._after("tool", "%seen%")
        except UsageError:
            return False

    @cached_property
    def _controls(self) -> tuple[str, ...]:
        return tuple(token for token in set(self.tokenizer.all_special_tokens) if len(token) > 1)

    def _knows(self, word: str, tools: Sequence[dict[str, Any]]) -> bool:
        template = self.tokenizer.get_chat_template(None, list(tools) or None)
        return word in template or word.replace('"', "'") in template

    def _after(self, role: str, content: str) -> str:
        # Without a system message: there are templates that repeat it in the newest turn.
        chat = [
            {"role": "user", "content": "-"},
            {"role": "assistant", "content": _MARK},
            {"role": role, "content": content},
        ]
        try:
            _, mark, rest = self._written(chat).partition(_MARK)
        except TemplateError as problem:
            raise UsageError(f"The model's chat template refuses a second turn: {problem}") from problem
        if not mark:
            raise UsageError(
                "The model's chat template leaves replies out, so episodes cannot be written in it."
            )
        return rest

    def _written(self, messages: Sequence[Message], tools: Sequence[dict[str, Any]] = ()) -> str:
        chat = self.tokenizer.apply_chat_template(
            list(messages),
            tools=list(tools) or None,
            add_generation_prompt=True,
            tokenize=False,
            **self.settings,
        )
        return str(chat)
