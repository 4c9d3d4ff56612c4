"""What a corpus is made of: texts with their origin, and what of a source is no text."""

from __future__ import annotations

import re
from dataclasses import dataclass

_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Document:
    """A text, or a piece of one, that a design is grounded on.

    Attributes:
        source: where it comes from, for example ``"stories.jsonl:12"``.
        licence: an SPDX expression, where it is known.
    """

    text: str
    source: str
    licence: str | None = None


@dataclass(frozen=True, slots=True)
class Unread:
    """A part of a source that gives no document: expected, on record, and no end of a run.

    Attributes:
        place: the file and line, or the source.
    """

    place: str
    found: str
    mend: str

    def text(self) -> str:
        """Return it as one line."""
        return f"{self.place}: {self.found}. {self.mend}."


Entry = Document | Unread
"""What a reader yields."""


def sound(text: str) -> str:
    """Return a stranger's text as every tokenizer and file takes it: no half characters, no control characters."""
    return _CONTROLS.sub("", text.encode("utf-8", "replace").decode())
