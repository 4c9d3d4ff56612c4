"""The source, line by line, with what each word is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pygments import lex
from pygments.lexers import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, String, _TokenType

from spade_envs.web.environment.subject import Head, Subject

LINES = 1_500
"""How many lines a page has."""
COLOURED = 24_000
"""Longer sources are shown without colours: each word of one takes room."""
_KINDS = ((Comment, "c"), (String, "s"), (Keyword, "k"), (Number, "n"), (Name.Decorator, "d"))
Words = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Code:
    """The page.

    Attributes:
        first: the number of the first line that is shown, from 1.
        lines: of each line its parts: what they are (empty: nothing special), and their text.
        total: how many lines the source has.
    """

    head: Head
    path: str
    file_sha256: str
    source: str
    first: int
    lines: tuple[Words, ...]
    total: int

    def as_dict(self) -> dict[str, Any]:
        """Return the page as JSON-ready data: the source whole."""
        return {"head": self.head, "path": self.path, "file_sha256": self.file_sha256, "source": self.source}


def code(one: Subject, first: int) -> Code:
    """Return the page from a line on."""
    every = lines(one.entry.source)
    start = min(max(1, first), max(1, len(every)))
    shown = every[start - 1 : start - 1 + LINES]
    path, sha = str(one.entry.path), one.entry.file_sha256
    return Code(one.head, path, sha, one.entry.source, start, shown, len(every))


@lru_cache(maxsize=64)
def lines(source: str) -> tuple[Words, ...]:
    """Return the lines of a source, each in parts of one kind."""
    if len(source) > COLOURED:
        return tuple((("", line),) for line in source.splitlines())
    found: list[list[tuple[str, str]]] = [[]]
    for token, text in lex(source, PythonLexer(stripnl=False, ensurenl=False)):
        for number, part in enumerate(text.split("\n")):
            if number:
                found.append([])
            if part:
                _add(found[-1], _kind(token), part)
    return tuple(tuple(line) for line in (found if found[-1] else found[:-1]))


def _add(line: list[tuple[str, str]], kind: str, text: str) -> None:
    """Neighbours of one kind are one part."""
    if line and line[-1][0] == kind:
        text = line.pop()[1] + text
    line.append((kind, text))


def _kind(token: _TokenType) -> str:
    return next((kind for known, kind in _KINDS if token in known), "")
