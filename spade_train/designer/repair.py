"""Repair: a refused design goes back with its report, and what comes of it is read."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from spade_envs import Finding, Rejection, parse_header, read_reply
from spade_train.designer import prompts
from spade_train.designer.context import DesignContext, Designer, Draft, Message
from spade_train.designer.mends import Facts, mend
from spade_train.designer.splicing import class_of, splice

REPORT_FINDINGS, REPORT_LENGTH = 3, 1_500
"""The most findings, and characters of all of them, that go back."""


def repair_prompt(
    designer: Designer,
    messages: Sequence[Message],
    reply: str,
    refused: Draft | None,
    findings: Sequence[Finding],
) -> list[Message]:
    """Return the chat in which a refused reply goes back with what was found.

    Whole methods are asked for where there is a source to put them into, else the whole reply again.

    Args:
        messages: the chat that the reply answered.
        refused: the source that was read from it, if any.
        findings: why it was refused.
    """
    copied = designer.way in ("free", "two_stage") and any(
        one.rule.startswith("novelty.") for one in findings
    )
    whole = designer.schema() is not None or copied or not _takes_methods(refused)
    kind = "again" if refused is None or copied else "whole" if whole else "methods"
    return prompts.repair(messages, reply, report(findings, refused), kind)


def read_repair(
    designer: Designer, reply: str, context: DesignContext, refused: Draft | None
) -> Draft | Rejection:
    """Return the source that a repair stands for: a whole one, or the refused one with the reply's methods in it."""
    whole = designer.schema() is not None or isinstance(read_reply(reply), str)
    if refused is None or whole or not _takes_methods(refused):
        return designer.read(reply, context)
    spliced = splice(refused.source, reply)
    if isinstance(spliced, Rejection):
        return spliced
    header = parse_header(spliced.source)
    parent = None if isinstance(header, Rejection) or header.parent is None else str(header.parent)
    mended = mend(spliced.source, Facts(context.round, parent))
    return Draft(mended.source, tuple(dict.fromkeys([*refused.mends, *mended.mends])))


def report(findings: Sequence[Finding], refused: Draft | None) -> str:
    """Return what a designer is told of a refusal: the first findings, each with its line where it has one."""
    source = refused.source if refused else None
    told = [finding.text("file", source) for finding in findings if finding.severity == "refuse"]
    return "\n".join(told[:REPORT_FINDINGS])[:REPORT_LENGTH]


def _takes_methods(refused: Draft | None) -> bool:
    """Whether methods can be put into a source: it parses and has the environment's class."""
    if refused is None:
        return False
    try:
        return class_of(ast.parse(refused.source)) is not None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
