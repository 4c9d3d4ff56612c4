"""Hints by a reader: the model reads a design's source and writes its ``hint()``, which the design's own gives way to.

As SPADE does it (arXiv 2608.19197): the model that designs is asked a second time, coolly, and without the design's
own hint before its eyes. What it writes passes the same gates as any hint; where it does not, the design keeps its own.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random

from spade_envs import Admission, Finding, Panel, Rejection, Report, code_blocks
from spade_train.backends.interface import Answer, Ask, Backend
from spade_train.designer import Message
from spade_train.designer.splicing import splice
from spade_train.designer.syntax import class_of, methods_of
from spade_train.designer.wording import text
from spade_train.playing.decoding import Policy

TOKENS = 256
"""The most tokens of a reader's reply."""

TEMPERATURE = 0.3
"""The paper's, for hints."""

WORDS = 100
"""The most words of a reply without code that is taken for the hint itself: no hint may be longer."""

READER = "reader"

_CODE = re.compile(r"```|\bdef |\breturn |<think")

Reader = Callable[[Sequence[list[Message]]], list[str | None]]
"""Chats -> as many replies, in order; None where one got none."""


@dataclass(frozen=True, slots=True)
class Hinted:
    """A source with the hint that it is judged with.

    Attributes:
        source: with the reader's hint, or as it was.
        own: as the designer wrote it.
        hint: who wrote the hint: ``"reader"``, or why the design keeps its own.
    """

    source: str
    own: str
    hint: str

    @property
    def changed(self) -> bool:
        """Whether the reader's hint stands in it."""
        return self.source != self.own

    def kept(self, why: str) -> Hinted:
        """Return it with its own hint, and why."""
        return replace(self, source=self.own, hint=why)


Verdict = Report | Admission


def judge(
    panel: Panel, sources: Sequence[str], jobs: int | None, reader: Reader | None
) -> tuple[list[Hinted], list[Verdict]]:
    """Let the reader write hints and judge the sources with them; what is refused for its hint is judged with its own.

    Args:
        panel: where they are judged.
        sources: whole files.
        jobs: how many are judged at once.
        reader: None where designs keep their own hints.

    Raises:
        IsolationError: this machine could not judge one of them.
    """
    hinted = read_hints(sources, reader) if reader else [Hinted(one, one, "") for one in sources]
    verdicts = panel.judge([one.source for one in hinted], jobs)
    back = [n for n, one in enumerate(hinted) if one.changed and _hint_fault(verdicts[n])]
    again = panel.judge([hinted[n].own for n in back], jobs) if back else []
    for n, verdict in zip(back, again, strict=True):
        hinted[n] = hinted[n].kept(f"the reader's hint was refused: {_hint_fault(verdicts[n])}")
        verdicts[n] = verdict
    return hinted, verdicts


def read_hints(sources: Sequence[str], reader: Reader) -> list[Hinted]:
    """Return each source with the hint that the reader writes for it, or as it is with the reason."""
    asked = [n for n, source in enumerate(sources) if _class(source) is not None]
    replies = dict(zip(asked, reader([chat(sources[n]) for n in asked]) if asked else [], strict=True))
    return [_with_hint(source, replies.get(n), n in replies) for n, source in enumerate(sources)]


def chat(source: str) -> list[Message]:
    """Return the chat that asks for the hint of a source; its own is not shown."""
    shown = f"```python\n{without_hint(source)}```"
    return [
        {"role": "system", "content": text("hint_role")},
        {"role": "user", "content": f"{shown}\n\n{text('request_hint')}"},
    ]


def without_hint(source: str) -> str:
    """Return a source that parses without its class's ``hint``; one that has nothing else in its class as it is."""
    owner = _class(source)
    old = methods_of(owner).get("hint") if owner else None
    if owner is None or old is None or len(owner.body) == 1:
        return source
    lines = source.splitlines(keepends=True)
    del lines[min([old.lineno, *(one.lineno for one in old.decorator_list)]) - 1 : old.end_lineno]
    return "".join(lines)


def read_method(reply: str) -> str | Rejection:
    """Return the ``hint`` method in a reply, from ``def`` on; of a reply in plain words one that returns them."""
    blocks = code_blocks(reply)
    if not isinstance(blocks, Rejection) and blocks:
        method = next((found for block in reversed(blocks) if (found := _method(block))), None)
        if method is not None:
            return method
    elif 0 < len(reply.split()) <= WORDS and not _CODE.search(reply):
        return f"def hint(self):\n    return {' '.join(reply.split())!r}"
    return Rejection(
        (
            Finding(
                "hint.reply", "the reply holds no method `hint`", "Write it whole, from `def hint(self):`."
            ),
        )
    )


def of_policy(policy: Policy) -> Reader:
    """Return a reader that is the trainer's own model; what it writes is no row of a batch."""

    def read(chats: Sequence[list[Message]]) -> list[str | None]:
        cool = replace(policy, temperature=TEMPERATURE)
        known = [cool.ids(cool.chat.render(one)) for one in chats]
        room = (
            getattr(cool.model.config, "max_position_embeddings", None) or len(max(known, key=len)) + TOKENS
        )
        fit = [n for n, ids in enumerate(known) if len(ids) + TOKENS <= room]
        said = cool.decoder([known[n] for n in fit]).sample(TOKENS) if fit else []
        texts = {n: cool.text(one.tokens) for n, one in zip(fit, said, strict=True)}
        return [texts.get(n) for n in range(len(known))]

    return read


def of_backend(backend: Backend, seed: int) -> Reader:
    """Return a reader that is asked through a backend; each chat has a seed of its own, which follows from ``seed``."""

    def read(chats: Sequence[list[Message]]) -> list[str | None]:
        rng = Random(f"{seed}/hints")
        asks = [Ask(tuple(one), rng.getrandbits(31), TOKENS, TEMPERATURE) for one in chats]
        return [one.text if isinstance(one, Answer) else None for one in backend.answer(asks)]

    return read


def _with_hint(source: str, reply: str | None, asked: bool) -> Hinted:
    own = Hinted(source, source, "")
    if not asked:
        return own.kept("the source has no class that the reader could write for")
    if reply is None:
        return own.kept("the reader gave no reply")
    method = read_method(reply)
    spliced = method if isinstance(method, Rejection) else splice(source, f"```python\n{method}\n```")
    if isinstance(spliced, Rejection):
        return own.kept(f"the reader's reply was not taken: {spliced.findings[0].found}")
    return replace(own, source=spliced.source, hint=READER)


def _class(source: str) -> ast.ClassDef | None:
    try:
        return class_of(ast.parse(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _method(block: str) -> str | None:
    """Return the first ``hint(self)`` of a block, which may stand in a class or indented as there."""
    text = block.expandtabs(4)
    for attempt in (text, f"class _:\n{text}", f"class _:\n    {text}"):
        try:
            found = [node for node in ast.walk(ast.parse(attempt)) if isinstance(node, ast.FunctionDef)]
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        method = next((one for one in found if one.name == "hint"), None)
        if method is not None and [one.arg for one in method.args.args] == ["self"]:
            return ast.unparse(method)
    return None


def _hint_fault(verdict: Verdict) -> str | None:
    """Return what was found of the hint, where a source was refused for it."""
    report = verdict.report if isinstance(verdict, Admission) else verdict
    return next((one.found for one in report.refusing if "hint" in one.rule or "hint" in one.found), None)
