"""Writing files so that they appear whole or not at all, and the lock of a registry."""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

LOCK_FILE = ".lock"


@contextlib.contextmanager
def staged(folder: Path, text: str) -> Iterator[Path]:
    """Write a temporary file beside its place, safely on disk; it is gone afterwards."""
    descriptor, name = tempfile.mkstemp(prefix=".new-", dir=folder)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogatepass", newline="") as file:
            file.write(text)
            file.flush()
            os.fchmod(file.fileno(), 0o644)
            os.fsync(file.fileno())
        yield Path(name)
    finally:
        with contextlib.suppress(FileNotFoundError):  # it was moved to its place
            os.unlink(name)


def link(new: Path, target: Path) -> bool:
    """Give a complete file its name; False where the name is taken. Never overwrites."""
    try:
        os.link(new, target)
    except FileExistsError:
        return False
    return True


def replace(path: Path, text: str) -> None:
    """Write a file in the place of an older one, if there is one; readers see the old or the new, whole."""
    with staged(path.parent, text) as new:
        os.replace(new, path)


@contextlib.contextmanager
def locked(root: Path) -> Iterator[None]:
    """Hold a folder's lock, which keeps out other processes and threads that ask for it, not readers.

    The system gives it up when the process ends, however that happens. It cannot be taken twice in a row.
    """
    root.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(root / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
