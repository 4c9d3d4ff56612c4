"""Folders of texts, Markdown and code, and single files of them."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from spade_train.corpus.document import Document, Entry, Unread
from spade_train.corpus.parquet import read_parquet
from spade_train.corpus.rows import read_jsonl

TEXTS = (".txt", ".md", ".markdown", ".rst", ".org", ".adoc", ".tex")
CODE = (
    *(
        ".py",
        ".pyi",
        ".js",
        ".ts",
        ".c",
        ".h",
        ".cc",
        ".cpp",
        ".hpp",
        ".cs",
        ".rs",
        ".go",
        ".java",
        ".kt",
        ".swift",
    ),
    *(".scala", ".jl", ".r", ".rb", ".lua", ".hs", ".ml", ".lisp", ".pl", ".sh", ".sql"),
)
TABLES = {".jsonl": read_jsonl, ".parquet": read_parquet}
KINDS = (*TEXTS, *CODE, *TABLES)

_PASSED_OVER = {"node_modules", "__pycache__", "venv", "site-packages"}
_LARGEST = 20_000_000
_LICENCE = re.compile(r"SPDX-License-Identifier:\s*([\w.+() -]{1,100})")


def read_folder(folder: Path) -> Iterator[Entry]:
    """Yield the documents of every file below a folder whose kind is known, in the order of their paths.

    Hidden folders and links to folders are not entered. Files of other kinds are counted.
    """
    others: Counter[str] = Counter()
    closed: list[OSError] = []
    for path in _files(folder, closed):
        if path.suffix.lower() in KINDS:
            yield from read_file(path, path.relative_to(folder.parent).as_posix())
        else:
            others[path.suffix.lower() or path.name] += 1
    for error in closed:
        yield Unread(str(error.filename), f"it cannot be entered ({error.strerror})", "Look after its rights")
    if others:
        kinds = ", ".join(f"{count} {kind}" for kind, count in others.most_common(8))
        found = f"{others.total()} files are of kinds that are not read ({kinds})"
        yield Unread(str(folder), found, "Nothing is to be done where that is meant")


def read_file(path: Path, name: str) -> Iterator[Entry]:
    """Yield the documents of one file; a kind that is not known is read as text.

    Args:
        name: what places of the documents begin with.
    """
    if not path.is_file():
        yield Unread(name, "it is no regular file", "Name a file of documents")
    elif reader := TABLES.get(path.suffix.lower()):
        yield from reader(path, name)
    else:
        yield _whole(path, name)


def _whole(path: Path, name: str) -> Entry:
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError as error:
        return Unread(name, f"it cannot be read ({error.strerror})", "Look after its rights and its disk")
    if len(data) > _LARGEST:
        return Unread(name, f"it has more than {_LARGEST // 1_000_000} MB", "Cut it into several files")
    if b"\0" in data:
        return Unread(name, "it is binary", "Name a file of text")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return Unread(
            name, f"byte {error.start} is no UTF-8", "Write it anew as UTF-8, for example with iconv"
        )
    if not text.strip():
        return Unread(name, "it is empty", "Leave it out, or write something")
    licence = _LICENCE.search(text, 0, 4_000)
    return Document(text, name, licence[1].strip() if licence else None)


def _files(folder: Path, closed: list[OSError]) -> Iterator[Path]:
    for where, folders, names in os.walk(folder, onerror=closed.append):
        folders[:] = sorted(one for one in folders if not one.startswith(".") and one not in _PASSED_OVER)
        yield from (Path(where, name) for name in sorted(names) if not name.startswith("."))
