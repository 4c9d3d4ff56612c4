"""Refused designs of one prompt go back to whoever wrote them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from spade_train.designer import DesignContext, Designer, Message, read_repair, repair_prompt
from spade_train.designer.repair import Refused, rules
from spade_train.rounds import Design
from spade_train.workshop.verdicts import Verdict, after, as_row, draft_of, passed, refused, with_source

Voice = Callable[[Sequence[list[Message]]], list[Design]]
"""Chats -> a reply to each, in their order, not read yet."""
Pair = tuple[Design, Verdict | None]
"""A design and its verdict; None where it has no source."""
Judge = Callable[[Sequence[Design]], list[Pair]]


@dataclass
class _Case:
    """A design on its way through repairs.

    Attributes:
        pair: the row as it stands.
        first: the first reply, as it was refused.
        latest: what the next repair goes on from.
        context, chat: what the latest reply was asked with.
        stuck: whether its repair has found the same again.
    """

    pair: Pair
    first: Design
    latest: Design
    context: DesignContext
    chat: list[Message]
    stuck: bool = False

    @property
    def is_due(self) -> bool:
        design, verdict = self.pair
        return bool(design.reply) and not passed(verdict)

    def go_back(self, designer: Designer, turn: int) -> list[Message]:
        """Return the chat in which the latest reply goes back with what was found of it."""
        self.context, self.chat = repair_prompt(designer, self.context, self.chat, self._refused, turn)
        return self.chat

    @property
    def _refused(self) -> Refused:
        last = self.latest
        return Refused(last.reply, draft_of(last), last.findings, self.stuck)

    def read(self, designer: Designer, reply: Design) -> Design:
        if reply.refusal:
            return reply
        return with_source(reply, read_repair(designer, reply.reply, self.context, self._refused))

    def take(self, design: Design, verdict: Verdict | None, turn: int) -> None:
        if passed(verdict):
            self.pair = as_row(self.first, design, turn), verdict
        before = rules(self.latest.findings)
        self.latest = after(self.latest, refused(design, verdict))
        self.stuck = rules(self.latest.findings) == before


def repaired(
    designer: Designer, context: DesignContext, pairs: Sequence[Pair], voice: Voice, judge: Judge, most: int
) -> list[Pair]:
    """Return designs with what came of the refused ones' repairs; one that came to nothing stays as it was.

    Args:
        pairs: designs of one prompt, that of ``context``.
        most: how often one may go back.
    """
    chat = designer.prompt(context)
    cases = [_Case(pair, refused(*pair), refused(*pair), context, chat) for pair in pairs]
    for turn in range(1, most + 1):
        due = [case for case in cases if case.is_due]
        replies = voice([case.go_back(designer, turn) for case in due]) if due else []
        read = [case.read(designer, reply) for case, reply in zip(due, replies, strict=True)]
        for case, (design, verdict) in zip(due, judge(read) if due else [], strict=True):
            case.take(design, verdict, turn)
    return [case.pair for case in cases]
