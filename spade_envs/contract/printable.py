"""Text that a terminal or a log may be given, wherever it came from."""

from __future__ import annotations

import json
from unicodedata import category


def printable(text: str, keep: str = "") -> str:
    """Return a text with every character escaped that moves a cursor, begins a line, or cannot be seen or encoded.

    Args:
        text: anything: a file's name, what a design says.
        keep: characters to be left as they are, for example line breaks where lines are meant.
    """
    if text.isprintable():
        return text
    return "".join(c if _shows(c) or c in keep else c.encode("unicode_escape").decode() for c in text)


def printable_json(data: object, indent: int | None = None) -> str:
    """Return data as JSON text of printable characters: what reads it gets back what was written."""
    text = json.dumps(data, indent=indent, ensure_ascii=False)
    return "".join(c if _shows(c) or c == "\n" else json.dumps(c)[1:-1] for c in text)


def _shows(character: str) -> bool:
    return character.isprintable() or category(character) == "Zs"
