"""From a designer's reply to the source in it. What is unclear is refused; nothing is guessed or repaired."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from spade_envs.contract.findings import Finding, Rejection
from spade_envs.contract.header import has_header

_TAG = r"(?:think|thinking|thought|reasoning)"
_FLAGS = re.DOTALL | re.MULTILINE | re.IGNORECASE
# A chat template may have put the opening tag into the prompt; then the reply begins inside the thought.
_BEGUN_THOUGHT = re.compile(rf"\A(?:(?!<{_TAG}>).)*?</{_TAG}>[ \t]*$", _FLAGS)
_THOUGHT = re.compile(rf"<({_TAG})>.*?</\1>", _FLAGS)
_FENCE_OR_THOUGHT = re.compile(
    rf"^(?P<indent> {{0,3}})(?P<fence>`{{3,}}(?=[^`\n]*$)|~{{3,}})[^\n]*|^[ \t]*(?=<{_TAG}>)", _FLAGS
)

_CODE_BEGINS = re.compile(r"\s*(def |class |@|import |from |#)")
_QUOTE = "(?P<quote>[\u201c\u201d\u201e\u2018\u2019])"
_HEADER_QUOTE = re.compile(rf"^#\s*\w+\s*=\s*\[?\s*{_QUOTE}", re.MULTILINE)
_CODE_QUOTE = re.compile(
    r"""#[^\n]*|'''(?:\\.|[^\\])*?'''|\"""(?:\\.|[^\\])*?\"""|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|"""
    + _QUOTE,
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class _Parts:
    """A reply without its thoughts, the complete fenced blocks in it, and what, if anything, never ended."""

    text: str
    blocks: tuple[str, ...]
    open_end: str = ""  # "", "code block" or "thought"
    fence: str = ""  # that of the open block


def read_reply(reply: str) -> str | Rejection:
    """Return the source in a reply, with LF line ends and one at its end, or say why there is none.

    It is the last complete fenced block outside thinking tags that has a header, or the whole reply where
    that is source without a fence.
    """
    parts = _read(reply)
    sources = [block for block in parts.blocks if has_header(block)]
    if parts == _Parts(parts.text, ()) and has_header(parts.text):
        sources = [parts.text]
    if not sources:
        return Rejection((_why_none(parts),))
    source = sources[-1].strip("\ufeff\n") + "\n"
    return Rejection(findings) if (findings := tuple(_typographic_quotes(source))) else source


def code_blocks(reply: str) -> tuple[str, ...] | Rejection:
    """Return the complete fenced blocks of a reply outside thinking tags, with LF line ends, or say why there is none.

    A reply that is cut off inside a block or a thought is refused: what stands before may be a draft. A reply without
    fences is one block where it begins as code does.
    """
    parts = _read(reply)
    blocks = tuple(block for block in parts.blocks if block.strip())
    if not parts.blocks and not parts.open_end and _CODE_BEGINS.match(parts.text):
        blocks = (parts.text,)
    if parts.open_end or not blocks:
        return Rejection(
            (_why_none(replace(parts, blocks=()), "Put the code in one fenced block and close it."),)
        )
    findings = tuple(finding for block in blocks for finding in _typographic_quotes(block))
    return Rejection(findings) if findings else blocks


def with_closed_block(reply: str) -> str:
    """Return a reply whose last code block ends where the reply does; one without an open block as it is.

    For a writer that is known to have stopped by itself: small models forget the fence.
    """
    fence = _read(reply).fence
    return f"{reply}\n{fence}" if fence else reply


def _read(reply: str) -> _Parts:
    text = reply.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return _parts(_BEGUN_THOUGHT.sub("", text))


def _parts(text: str) -> _Parts:
    blocks: list[str] = []
    position = 0
    while start := _FENCE_OR_THOUGHT.search(text, position):
        if start["fence"]:
            end = _closing(start["fence"]).search(text, start.end())
            if end is None:
                return _Parts(text, tuple(blocks), "code block", start["fence"])
            blocks.append(_dedented(text[start.end() + 1 : end.start()], len(start["indent"])))
            position = end.end()
        else:
            thought = _THOUGHT.match(text, start.end())
            if thought is None:
                return _Parts(text, tuple(blocks), "thought")
            text, position = text[: start.start()] + "\n" + text[thought.end() :], start.start()
    return _Parts(text, tuple(blocks))


def _closing(fence: str) -> re.Pattern[str]:
    return re.compile(rf"^ {{0,3}}{fence[0]}{{{len(fence)},}}[ \t]*$", re.MULTILINE)


def _dedented(content: str, indent: int) -> str:
    return re.sub(rf"^ {{0,{indent}}}", "", content, flags=re.MULTILINE)


_WHOLE = "Put the whole file, header first, in one fenced code block and close it."


def _why_none(parts: _Parts, whole: str = _WHOLE) -> Finding:
    if not parts.text.strip():
        return Finding("reply.empty", "The reply holds nothing outside its thoughts.", whole)
    if parts.open_end:
        found = f"The reply is cut off: it ends inside a {parts.open_end} that is never closed."
        return Finding("reply.cut-off", found, whole)
    if parts.blocks:
        found = f"No code block of the reply ({len(parts.blocks)} complete) begins with a header."
        return Finding("reply.no-header", found, "Begin the block with `# /// spade`.")
    return Finding("reply.no-block", "The reply holds no fenced code block.", whole)


def _typographic_quotes(source: str) -> Iterator[Finding]:
    """Find typographic quotes outside strings and comments, one a line; the header is data, not comment."""
    mark = re.search(r"^# ///[ \t]*$", source, re.MULTILINE)
    code = mark.end() if mark else 0
    matches = [*_HEADER_QUOTE.finditer(source, 0, code), *_CODE_QUOTE.finditer(source, code)]
    lines = {
        source.count("\n", 0, match.start("quote")) + 1: match["quote"] for match in matches if match["quote"]
    }
    for line, quote in lines.items():
        found = f"A typographic quote ({quote}) stands where a string begins or ends."
        yield Finding(
            "reply.typographic-quote", found, "Write straight quotes (\" or ') around strings.", line
        )
