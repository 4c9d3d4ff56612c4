"""What took long to read, kept in the user's cache folder until its name changes."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec
from platformdirs import user_cache_path

from spade_train.corpus.document import Document, Unread


class Kept(msgspec.Struct, frozen=True):
    """What a reader has found."""

    documents: tuple[Document, ...]
    unread: tuple[Unread, ...] = ()


def folder() -> Path:
    """Return the folder of what is kept."""
    return user_cache_path("spade-envs", appauthor=False) / "corpus"


def kept(name: str, read: Callable[[], Kept]) -> Kept:
    """Return what is kept under a name, or read it and keep it; a disk that takes nothing is no obstacle."""
    if (found := recall(name)) is not None:
        return found
    new = read()
    with contextlib.suppress(OSError):
        keep(name, new)
    return new


def recall(name: str) -> Kept | None:
    """Return what is kept under a name; None where nothing is, or nothing whole."""
    try:
        data = _path(name).read_bytes()
        return msgspec.json.decode(data, type=Kept)
    except (OSError, msgspec.DecodeError):
        return None


def is_kept(name: str) -> bool:
    """Whether something is kept under a name."""
    return _path(name).exists()


def keep(name: str, new: Kept) -> None:
    """Write the file whole, or not at all. Raises OSError."""
    path = _path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        try:
            file.write(msgspec.json.encode(new))
            file.close()
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


def _path(name: str) -> Path:
    return folder() / f"{name}.json"
