"""The blocks of a text: headings, paragraphs, code in fences, doctests, definitions of a program."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["heading", "code", "prose"]

_FENCE = re.compile(r"\s*(```+|~~~+)")
_HEADING = re.compile(r"#{1,6} +\S")
_UNDERLINE = re.compile(r"([=\-~^\"'*+#])\1{2,}\s*$")
_DEFINITION = re.compile(
    r"(?:@\w|(?:async |export |public |static |pub )*(?:def|class|func|function|fn|struct|impl|interface) )"
)


@dataclass(frozen=True, slots=True)
class Block:
    """One block: ``text[start:end]``, from its first line's beginning to its last line's end.

    Attributes:
        opens: whether a piece should rather begin here than go on.
    """

    start: int
    end: int
    kind: Kind
    opens: bool


def blocks(text: str) -> Iterator[Block]:
    """Yield the blocks of a text in order. Together they hold every character that is not blank."""
    lines = text.splitlines(keepends=True)
    number = offset = 0
    while number < len(lines):
        if not lines[number].strip():
            offset, number = offset + len(lines[number]), number + 1
            continue
        kind, after = _block(lines, number)
        end = offset + sum(map(len, lines[number:after]))
        yield Block(offset, end, kind, kind == "heading" or bool(_DEFINITION.match(lines[number])))
        offset, number = end, after


def _block(lines: list[str], first: int) -> tuple[Kind, int]:
    """Return the kind of the block that begins at a line, and the line after it."""
    line = lines[first]
    if fence := _FENCE.match(line):
        return "code", _fenced(lines, first, fence[1])
    if _is_underlined(lines, first):
        return "heading", first + 2
    if _HEADING.match(line):
        return "heading", first + 1
    kind: Kind = "code" if line.lstrip().startswith(">>>") or _DEFINITION.match(line) else "prose"
    after = first + 1
    while after < len(lines) and lines[after].strip() and not _begins(lines, after, kind):
        after += 1
    return kind, after


def _fenced(lines: list[str], first: int, fence: str) -> int:
    """Return the line after the closing fence; where it is never closed, the end of the paragraph."""
    for number in range(first + 1, len(lines)):
        if lines[number].strip().startswith(fence) and not lines[number].strip().strip(fence[0]):
            return number + 1
    return next((n for n in range(first + 1, len(lines)) if not lines[n].strip()), len(lines))


def _is_underlined(lines: list[str], first: int) -> bool:
    return (
        first + 1 < len(lines) and bool(_UNDERLINE.match(lines[first + 1])) and not lines[first][0].isspace()
    )


def _begins(lines: list[str], number: int, inside: Kind) -> bool:
    """Whether a block begins at a line that no blank line goes before."""
    line = lines[number]
    if line.lstrip().startswith(">>>"):
        return inside != "code"
    return bool(_FENCE.match(line) or _HEADING.match(line) or _is_underlined(lines, number))
