"""Repair: a refused design goes back with its report, and what comes of it is read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from spade_envs import Finding, Rejection, parse_header, read_reply
from spade_train.designer import answering, prompts
from spade_train.designer.context import DesignContext, Designer, Draft, Message
from spade_train.designer.headers import Facts
from spade_train.designer.mends import mend
from spade_train.designer.splicing import splice
from spade_train.designer.syntax import class_of, parsed

IDEAS = ("novelty.", "short-cut.", "reply.", "header.", "splice.")
"""Findings that begin so are not mended in the code at hand: another reply is asked for, without this one in sight."""

REPORT_FINDINGS, REPORT_LENGTH = 3, 1_500
"""The most findings, and characters of all of them, that go back."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A reply that was refused.

    Attributes:
        reply: as it was written.
        draft: the source that was read from it, if any.
        findings: why it was refused.
        stuck: whether a repair has been tried and found the same: then there is no use in another.
    """

    reply: str
    draft: Draft | None
    findings: Sequence[Finding]
    stuck: bool = False


def repair_prompt(
    designer: Designer, context: DesignContext, messages: Sequence[Message], refused: Refused, turn: int
) -> tuple[DesignContext, list[Message]]:
    """Return the chat in which a refused reply goes back with what was found, and the context that it is read in.

    Whole methods are asked for where there is a source to put them into. Where none could be read, where it is the
    idea that was refused, or where a repair has changed nothing, another reply is asked for, with what is drawn by
    lot drawn anew; of a small model always, which writes something else sooner than it finds a fault.

    Args:
        context: what the reply was asked with.
        messages: the chat that the reply answered.
        turn: how many replies there have been.
    """
    kind = _kind(designer, refused)
    if kind == "again":
        context = replace(context, draw=turn)
        messages = designer.prompt(context)
    return context, prompts.repair(messages, refused.reply, report(refused.findings, refused.draft), kind)


def read_repair(
    designer: Designer, reply: str, context: DesignContext, refused: Refused
) -> Draft | Rejection:
    """Return the source that a repair stands for: a new one, or the refused one with the reply's methods in it.

    Args:
        reply: what was answered to :func:`repair_prompt`.
        context: what that returned.
    """
    whole = isinstance(read_reply(reply), str)
    if refused.draft is None or whole or _kind(designer, refused) != "methods":
        return designer.read(reply, context)
    spliced = splice(refused.draft.source, reply)
    if isinstance(spliced, Rejection):
        return spliced
    header = parse_header(spliced.source)
    parent = None if isinstance(header, Rejection) or header.parent is None else str(header.parent)
    mended = mend(spliced.source, Facts(context.round, parent))
    return Draft(mended.source, tuple(dict.fromkeys([*refused.draft.mends, *mended.mends])))


def is_idea(findings: Sequence[Finding]) -> bool:
    """Say whether it is the idea that was refused, or nothing could be read: no change of the code mends that."""
    return any(finding.rule.startswith(IDEAS) for finding in findings)


def rules(findings: Sequence[Finding]) -> list[str]:
    """Return what was found, by name."""
    return sorted({finding.rule for finding in findings})


def _kind(designer: Designer, refused: Refused) -> str:
    if refused.draft is None or refused.stuck or designer.brief or is_idea(refused.findings):
        return "again"
    return "methods" if designer.schema() is None and _takes_methods(refused.draft) else "whole"


def report(findings: Sequence[Finding], refused: Draft | None) -> str:
    """Return what a designer is told of a refusal: the first findings, each with its line where it has one."""
    source = refused.source if refused else None
    told = [_told(finding, source) for finding in findings if finding.severity == "refuse"]
    first = answering.advice(source) if source else ""
    return "\n".join([first] * bool(first) + told[:REPORT_FINDINGS])[:REPORT_LENGTH]


def _told(finding: Finding, source: str | None) -> str:
    """Return a finding as text; an error that a run met names its line within the text."""
    met = re.search(r"\(line (\d+)\)", finding.found)
    line = int(met[1]) if met and finding.line is None else finding.line
    return replace(finding, line=line).text("file", source)


def _takes_methods(refused: Draft) -> bool:
    """Whether methods can be put into a source: it parses and has the environment's class."""
    tree = parsed(refused.source)
    return tree is not None and class_of(tree) is not None
