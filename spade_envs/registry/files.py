"""Writing files so that they appear whole or not at all, and the lock of a registry."""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from spade_envs.contract.printable import printable

LOCK_FILE = ".lock"
ROOM_BYTES = 128 * 1024
"""What a version with its report takes at most, about."""
SILENCE_S = 1.0
"""How long a lock is waited for before that is said."""
_LOG = logging.getLogger(__name__)


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


@contextlib.contextmanager
def made(folder: Path) -> Iterator[None]:
    """Make a folder for what the block writes; where that fails and nothing else is in it, it goes again."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError):
            folder.rmdir()
        raise


def try_to_write(folder: Path) -> None:
    """Write a file that goes again, into the folder or the one in which it would be made. Raises OSError."""
    while not folder.exists():
        folder = folder.parent
    with staged(folder, " " * ROOM_BYTES):
        pass


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
        _take(descriptor, root)
        yield
    finally:
        os.close(descriptor)


def _take(descriptor: int, root: Path) -> None:
    """Wait for the lock as long as it takes, but not in silence."""
    end = time.monotonic() + SILENCE_S
    while time.monotonic() < end:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        time.sleep(0.02)
    _LOG.warning("waiting for another process, which holds %s", printable(str(root / LOCK_FILE)))
    fcntl.flock(descriptor, fcntl.LOCK_EX)
