"""From a designer's reply to the source in it. What is unclear is refused; nothing is guessed or repaired."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from spade_envs.contract.findings import Finding, Rejection
from spade_envs.contract.header import has_header

_TAG = r"(?:think|thinking|thought|reasoning)"
_FLAGS = re.DOTALL | re.MULTILINE | re.IGNORECASE
# A chat template may have put the opening tag into the prompt; then the reply begins inside the thought.
_BEGUN_THOUGHT = re.compile(rf"\A(?:(?!<{_TAG}>).)*?</{_TAG}>[ \t]*$", _FLAGS)
_THOUGHT = re.compile(rf"<({_TAG})>.*?(?P<close></\1>|\Z)", _FLAGS)
_FENCE_OR_THOUGHT = re.compile(
    rf"^(?P<indent> {{0,3}})(?P<fence>`{{3,}}(?=[^`\n]*$)|~{{3,}})|^[ \t]*(?=<{_TAG}>)", _FLAGS
)

_QUOTE = "(?P<quote>[\u201c\u201d\u201e\u2018\u2019])"
_HEADER_QUOTE = re.compile(rf"^#\s*\w+\s*=\s*\[?\s*{_QUOTE}", re.MULTILINE)
_CODE_QUOTE = re.compile(
    r"""#[^\n]*|'''(?:\\.|[^\\])*?'''|\"""(?:\\.|[^\\])*?\"""|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|"""
    + _QUOTE,
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class _Parts:
    """The complete fenced blocks outside thoughts, and which part of the reply, if any, never ended."""

    blocks: tuple[str, ...]
    open_end: str = ""  # "", "block" or "thought"


def read_reply(reply: str) -> str | Rejection:
    """Return the source in a reply, with LF line ends and one at its end, or say why there is none.

    It is the last complete fenced block outside thinking tags that has a header, or the whole reply where
    that is source without a fence.
    """
    text = reply.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    text = _BEGUN_THOUGHT.sub("", text)
    parts = _parts(text)
    sources = [block for block in parts.blocks if has_header(block)]
    if not sources and parts == _Parts(()) and has_header(text):
        sources = [text]
    if not sources:
        return Rejection((_why_none(text, parts),))
    source = sources[-1].strip("\ufeff\n") + "\n"
    return Rejection(findings) if (findings := tuple(_typographic_quotes(source))) else source


def _parts(text: str) -> _Parts:
    blocks: list[str] = []
    position = 0
    while start := _FENCE_OR_THOUGHT.search(text, position):
        if start["fence"] is None:
            thought = _THOUGHT.match(text, start.end())
            assert thought is not None  # the lookahead of the search has seen its opening tag
            if not thought["close"]:
                return _Parts(tuple(blocks), "thought")
            text, position = text[: start.start()] + "\n" + text[thought.end() :], start.start()
            continue
        first = text.find("\n", start.end()) + 1
        fence = start["fence"]
        end = re.compile(rf"^ {{0,3}}{fence[0]}{{{len(fence)},}}[ \t]*$", re.MULTILINE).search(
            text, first or len(text)
        )
        if end is None:
            return _Parts(tuple(blocks), "block")
        blocks.append(
            re.sub(rf"^ {{0,{len(start['indent'])}}}", "", text[first : end.start()], flags=re.MULTILINE)
        )
        position = end.end()
    return _Parts(tuple(blocks))


def _why_none(text: str, parts: _Parts) -> Finding:
    whole = "Put the whole file, header first, in one fenced code block and close it."
    if not text.strip():
        return Finding("reply.empty", "The reply holds nothing outside its thoughts.", whole)
    if parts.open_end == "thought":
        return Finding(
            "reply.cut-off", "The reply ends inside its thoughts: the thinking tag is not closed.", whole
        )
    if parts.open_end == "block":
        return Finding(
            "reply.cut-off", "The reply ends inside a code block: its closing fence is missing.", whole
        )
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
