"""Every word that a designer reads: texts in ``texts/``, put together here within a budget of tokens."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from spade_envs.errors import UsageError
from spade_train.designer.context import DesignContext, Message
from spade_train.designer.worked import Example

VERSION = 4
"""Changes with any change of what designers are told."""

DOCUMENT_SHARE, TOLD_SHARE = 0.25, 0.2
"""The most of the token budget that the document, and what is told of earlier designs and the agent, may take."""


QUOTED_WORDS = 30
"""The most words of a document that a small model is shown."""


NAMING_WORDS = 15
"""The same for an edit: shown more, a small model writes about the document instead of changing the method."""


def rough_count(text: str) -> int:
    """Return about how many tokens a text has, where no tokenizer is at hand."""
    return len(text) // 3


@dataclass(frozen=True, slots=True)
class Window:
    """How long a prompt may be.

    Attributes:
        tokens: the most tokens of a prompt.
        count: counts the tokens of a text.
    """

    tokens: int = 6_000
    count: Callable[[str], int] = rough_count

    def left(self, *texts: str) -> int:
        """Return what these texts leave of the window.

        Raises:
            UsageError: they do not fit.
        """
        left = self.tokens - sum(map(self.count, texts))
        if left < 0:
            raise UsageError(
                f"A prompt of {self.tokens} tokens cannot hold what it must say. Allow {-left} tokens more."
            )
        return left

    def cut(self, text: str, limit: int) -> str:
        """Return the longest beginning of whole words that has at most ``limit`` tokens."""
        words = text.split(" ")
        while words and (tokens := self.count(" ".join(words))) > limit:
            words = words[: min(len(words) - 1, len(words) * limit // tokens)]
        return " ".join(words)


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


@cache
def text(name: str) -> str:
    """Return a text of the folder ``texts``, without its last line end."""
    return (Path(__file__).parent / "texts" / f"{name}.md").read_text("utf-8").strip()


@cache
def calculations() -> tuple[str, ...]:
    """Return what a small model may be asked to let an answer be: left alone, it asks for what it tells."""
    path = Path(__file__).parent / "texts" / "calculations.txt"
    return tuple(path.read_text("utf-8").splitlines())


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
    asked = [context.digest, f"Text: {quoted}" if quoted else "", _target(context), "A new game?"]
    return [*messages, _message("user", _joined("\n", asked))]


def free(
    examples: Sequence[Example], context: DesignContext, window: Window, request: str = "request_free"
) -> list[Message]:
    """Return the chat that asks for a whole file, the contract and examples first; of them, those that fit.

    Raises:
        UsageError: the window does not hold the role, the contract and the request.
    """
    asked = _joined(
        "\n", [_target(context), _parents(context), _requested(request, "").replace("{plan}", context.plan)]
    )
    told = _told(context, window)
    left = window.left(text("role"), text("contract"), told, asked)
    document = _document(context, window, left)
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
    calculation = context.own_rng("calculation").choice(calculations())
    asked = _joined(
        "\n", [_target(context), _requested(request, calculation).replace("{plan}", context.plan)]
    )
    told = _told(context, window)
    quoted = _quoted(context, window)
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
    asked, told = _joined("\n", [_target(context), ask, begin]), _told(context, window)
    system = f"{text('edit')}\n\n{fenced(shown)}"
    document = _document(context, window, window.left(system, told, asked))
    return [_message("system", system), _message("user", _joined("\n\n", [document, told, asked]))]


def edit_brief(part: Part, ask: str, context: DesignContext, window: Window) -> list[Message]:
    """Return the chat that asks a small model for one method anew: shown a whole class, it would write all of it.

    Raises:
        UsageError: the window does not hold the method.
    """
    question = [
        f"Names, if new ones are needed, from: {_quoted(context, window, NAMING_WORDS)}"
        if context.document
        else "",
        f"The rules: {part.rules}",
        f"It sets: {', '.join(part.sets)}" if part.sets else "",
        part.constants,
        fenced(part.method),
        _told(context, window),
        _joined(" ", [_target(context), ask]),
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
    shown: Sequence[tuple[str, str]], asked: str, context: DesignContext, window: Window
) -> list[Message]:
    """Return the chat that asks a small model for another question in a world that is there.

    Args:
        shown: worked examples, the question and the reply, as earlier turns; of them, those that fit.
        asked: the last question.

    Raises:
        UsageError: the window does not hold the rules and the question.
    """
    names = f"Names, if new ones are needed, from: {_quoted(context, window, NAMING_WORDS)}"
    last = _joined("\n", [names if context.document else "", _told(context, window), _target(context), asked])
    left = window.left(text("requestion"), last)
    turns: list[Message] = []
    for question, reply in shown:
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


def _document(context: DesignContext, window: Window, left: int) -> str:
    if context.document is None:
        return ""
    return window.cut(f"# Document\n{context.document.text}", min(left, int(window.tokens * DOCUMENT_SHARE)))


def _quoted(context: DesignContext, window: Window, most: int = QUOTED_WORDS) -> str:
    """Return the beginning of the document in one line, as short as those of the examples: a small model copies."""
    if context.document is None:
        return ""
    words = " ".join(context.document.text.split()[:most])
    sentence = re.match(r".*[.!?](?=\s|$)", words)
    return window.cut(sentence[0] if sentence else words, int(window.tokens * DOCUMENT_SHARE))


def _told(context: DesignContext, window: Window) -> str:
    """Return what is told of the agent, the pool and earlier designs, as many lines as its share holds."""
    lines, left = [], int(window.tokens * TOLD_SHARE)
    for line in _lines(context):
        left -= window.count(line)
        if left < 0:
            break
        lines.append(line)
    return "\n".join(lines)


def _lines(context: DesignContext) -> Iterator[str]:
    """Yield the lines, what matters most first."""
    yield from context.digest.splitlines()
    yield from _guidance(context)
    for one in context.profile:
        measured = {
            "success": one.success,
            "with the hint": one.hinted,
            "regret": one.regret,
            "trend": one.trend,
        }
        known = [f"{name} {value:.2f}" for name, value in measured.items() if value is not None]
        yield f"The agent at {one.skill}: {', '.join([f'{one.plays} plays', *known])}."
    if context.pool is not None:
        pool = context.pool
        yield f"The pool: {pool.active} environments, {pool.mastered} mastered, {pool.too_hard} too hard."
        if pool.domains:
            yield f"Its domains: {', '.join(f'{name} {count}' for name, count in pool.domains.items())}."
    for lesson in context.lessons:
        yield f"Refused before: {lesson}"


def _guidance(context: DesignContext) -> Iterator[str]:
    """Say in which direction the difficulty should go, from what the agent achieves."""
    rates = [(one.success, one.plays) for one in context.profile if one.success is not None and one.plays]
    if not rates:
        return
    mean = sum(rate * plays for rate, plays in rates) / sum(plays for _, plays in rates)
    wish = "harder" if mean > 0.7 else "easier" if mean < 0.3 else "as hard"
    yield f"The agent succeeds in {mean:.0%} of its plays: make this one {wish}{' again' if wish == 'as hard' else ''}."


def fenced(source: str) -> str:
    """Return a source as a block of a message."""
    return f"```python\n{source.strip()}\n```"


def _target(context: DesignContext) -> str:
    return f"It trains {context.target}." if context.target else ""


def _parents(context: DesignContext) -> str:
    return f"Derive it from one of {', '.join(context.parents)}." if context.parents else ""


def _joined(separator: str, parts: Sequence[str]) -> str:
    return separator.join(part for part in parts if part)


def _message(role: str, content: str) -> Message:
    return {"role": role, "content": content}
