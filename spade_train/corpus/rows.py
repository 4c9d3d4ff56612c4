"""Rows of tables and of JSONL as documents: which of their fields is the text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from spade_train.corpus.document import Document, Entry, Unread, sound

TEXTS = ("text", "orig_doc")
LICENCES = ("license", "licence")
FIELDS = (*TEXTS, *LICENCES)

_LONGEST_LINE = 50_000_000
_HEAD = 8_192


def of_row(row: Mapping[str, Any], place: str) -> Entry:
    """Return the document of one row: a string under one of ``TEXTS``."""
    text = next((row[key] for key in TEXTS if isinstance(row.get(key), str) and row[key].strip()), None)
    if text is None:
        return Unread(place, "it has no text", "Write an object with a string `text` or `orig_doc`")
    licence = next((row[key] for key in LICENCES if isinstance(row.get(key), str)), None)
    return Document(sound(text), place, licence)


def read_jsonl(path: Path, name: str) -> Iterator[Entry]:
    """Yield the document of each line, and what is wrong with the others; the file is never held whole.

    Args:
        name: what places of the documents begin with.
    """
    try:
        with path.open("rb") as lines:
            if b"\0" in lines.read(_HEAD):
                yield Unread(name, "it is binary", "Name a JSONL file")
                return
            lines.seek(0)
            number = 0
            while line := lines.readline(_LONGEST_LINE):
                number += 1
                if line.strip():
                    yield _of_line(line, f"{name}:{number}")
            if not number:
                yield Unread(name, "it is empty", "Write one JSON object with `text` on each line")
    except OSError as error:
        yield Unread(name, f"it cannot be read ({error.strerror})", "Look after the disk that holds it")


def _of_line(line: bytes, place: str) -> Entry:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        return Unread(place, f"it is no JSON ({error})", "Write one JSON object on each line")
    if not isinstance(row, dict):
        return Unread(place, "it is no JSON object", "Write one with a string `text` or `orig_doc`")
    return of_row(row, place)
