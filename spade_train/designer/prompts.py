"""What each way of designing asks a model, within a window of tokens."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from spade_train.designer import telling
from spade_train.designer.context import DesignContext, Message
from spade_train.designer.telling import NAMING_WORDS
from spade_train.designer.window import Window
from spade_train.designer.wording import calculations, text
from spade_train.designer.worked import Example

VERSION = 5
"""Changes with any change of what designers are told."""


@dataclass(frozen=True, slots=True)
class Part:
    """One method of a class, with what must be known to write it anew.

    Attributes:
        rules: the class's docstring.
        constants: the module's, as they stand there.
        sets: attributes that the method sets.
    """

    name: str
    method: str
    rules: str
    constants: str = ""
    sets: tuple[str, ...] = ()


def sha256(messages: Sequence[Message]) -> str:
    """Return the hash of a chat, which stands for the prompt in records."""
    return hashlib.sha256(json.dumps(list(messages), ensure_ascii=False).encode()).hexdigest()


def tokens(messages: Sequence[Message], window: Window) -> int:
    """Return how many tokens the texts of a chat have; what a chat template adds is not counted."""
    return sum(window.count(message["content"]) for message in messages)


def slots(examples: Sequence[dict[str, Any]], quoted: str, context: DesignContext) -> list[Message]:
    """Return the chat that asks for a specification about ``quoted``; worked examples are earlier turns."""
    messages = [_message("system", text("slots"))]
    for example in examples:
        messages.append(_message("user", f"Text: {example['title']}.\nA new game?"))
        messages.append(_message("assistant", json.dumps(example)))
    asked = [context.digest, f"Text: {quoted}" if quoted else "", telling.target(context), "A new game?"]
    return [*messages, _message("user", _joined("\n", asked))]


def free(
    examples: Sequence[Example], context: DesignContext, window: Window, request: str = "request_free"
) -> list[Message]:
    """Return the chat that asks for a whole file, the contract and examples first; of them, those that fit.

    Raises:
        UsageError: the window does not hold the role, the contract and the request.
    """
    asked = _joined(
        "\n",
        [
            telling.target(context),
            telling.parents(context),
            _requested(request, "").replace("{plan}", context.plan),
        ],
    )
    told = telling.told(context, window)
    left = window.left(text("role"), text("contract"), told, asked)
    document = telling.document(context, window, left)
    left -= window.count(document)
    shown = []
    for example in (f"# An example\n{fenced(example.source)}" for example in examples):
        if window.count(example) <= left:
            shown.append(example)
            left -= window.count(example)
    system = _joined("\n\n", [text("role"), text("contract"), *shown])
    return [_message("system", system), _message("user", _joined("\n\n", [document, told, asked]))]


def brief(
    examples: Sequence[Example], context: DesignContext, window: Window, request: str = "request_brief"
) -> list[Message]:
    """Return the chat that asks a small model for a whole file: few rules, worked examples as earlier turns.

    What differs from one design to the next stands last, so that a server reads the rest only once.

    Raises:
        UsageError: the window does not hold the rules and the request.
    """
    calculation = calculations().drawn(context.own_rng("calculation"))
    asked = _joined(
        "\n", [telling.target(context), _requested(request, calculation).replace("{plan}", context.plan)]
    )
    told = telling.told(context, window)
    quoted = telling.quoted(context, window)
    document = f"Document: {quoted}" if quoted else ""
    left = window.left(text("brief"), told, asked, document)
    turns: list[Message] = []
    for example in examples:
        question = f"Document: {example.document}\n{_requested('request_brief', example.answer)}"
        file = _joined("\n", [f"Plan: {example.plan}" if example.plan else "", fenced(example.source)])
        if window.count(question) + window.count(file) <= left:
            left -= window.count(question) + window.count(file)
            turns += [_message("user", question), _message("assistant", file)]
    last = _message("user", _joined("\n", [document, told, asked]))
    return [_message("system", text("brief")), *turns, last]


def _requested(name: str, calculation: str) -> str:
    """Return a request for what is calculated so; without a calculation, it asks for any."""
    request = text(name)
    if calculation:
        return request.replace("{calculation}", calculation)
    return re.sub(r"\s*(The answer|`self\._answer`) is \{calculation\}\.", "", request)


def edit(
    shown: str, ask: str, methods: Sequence[str], context: DesignContext, window: Window
) -> list[Message]:
    """Return the chat that asks for changed methods of the class ``shown``.

    Raises:
        UsageError: the window does not hold the class.
    """
    begin = f"Begin with `def {' or '.join(methods)}(self`." if methods else ""
    asked, told = _joined("\n", [telling.target(context), ask, begin]), telling.told(context, window)
    system = f"{text('edit')}\n\n{fenced(shown)}"
    document = telling.document(context, window, window.left(system, told, asked))
    return [_message("system", system), _message("user", _joined("\n\n", [document, told, asked]))]


def edit_brief(part: Part, ask: str, context: DesignContext, window: Window) -> list[Message]:
    """Return the chat that asks a small model for one method anew: shown a whole class, it would write all of it.

    Raises:
        UsageError: the window does not hold the method.
    """
    question = [
        f"Names, if new ones are needed, from: {telling.quoted(context, window, NAMING_WORDS)}"
        if context.document
        else "",
        f"The rules: {part.rules}",
        f"It sets: {', '.join(part.sets)}" if part.sets else "",
        part.constants,
        fenced(part.method),
        telling.told(context, window),
        _joined(" ", [telling.target(context), ask]),
        f"Write the new `{part.name}`.",
    ]
    messages = [
        _message("system", text("edit_brief")),
        _message("user", text("edit_brief_question")),
        _message("assistant", text("edit_brief_answer")),
        _message("user", _joined("\n", question)),
    ]
    window.left(*(message["content"] for message in messages))
    return messages


def requestion(
    worked: Sequence[tuple[str, str, str]],
    shown: str,
    calculation: str,
    context: DesignContext,
    window: Window,
) -> list[Message]:
    """Return the chat that asks a small model for another question in a world that is there.

    Args:
        worked: examples, each a class, a calculation and the reply, as earlier turns; of them, those that fit.
        shown: the class that is to be written anew.
        calculation: what the answer is to be.

    Raises:
        UsageError: the window does not hold the rules and the question.
    """
    names = f"Names, if new ones are needed, from: {telling.quoted(context, window, NAMING_WORDS)}"
    wanted = text("request_requestion").replace("{calculation}", calculation)
    told = [names if context.document else "", telling.told(context, window), telling.target(context)]
    last = _joined("\n", [fenced(shown), *told, wanted])
    left = window.left(text("requestion"), last)
    turns: list[Message] = []
    for before, answer, reply in worked:
        question = f"{fenced(before)}\n{text('request_requestion').replace('{calculation}', answer)}"
        if window.count(question) + window.count(reply) <= left:
            left -= window.count(question) + window.count(reply)
            turns += [_message("user", question), _message("assistant", reply)]
    return [_message("system", text("requestion")), *turns, _message("user", last)]


def repair(messages: Sequence[Message], reply: str, report: str, kind: str) -> list[Message]:
    """Return the chat in which a refused reply goes back with its report.

    Args:
        messages: the chat that it answered.
        kind: ``"whole"`` or ``"methods"``, what is to be written; ``"again"``, where nothing could be read: then the
            reply itself is left out, which a small model would only go on with.
    """
    asked = text(f"repair_{kind}").replace("{report}", report)
    if kind == "again":
        last = messages[-1]
        return [*messages[:-1], {**last, "content": f"{last['content']}\n\n{asked}"}]
    return [*messages, _message("assistant", reply), _message("user", asked)]


def fenced(source: str) -> str:
    """Return a source as a block of a message."""
    return f"```python\n{source.strip()}\n```"


def _joined(separator: str, parts: Sequence[str]) -> str:
    return separator.join(part for part in parts if part)


def _message(role: str, content: str) -> Message:
    return {"role": role, "content": content}
