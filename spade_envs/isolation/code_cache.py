"""Compiled designs, kept by the hash of their source: in this process, and in the user's cache folder.

A worker compiles, and says what came of it before it has run a line of the design; a later worker is given that
code. It is run in workers only: whoever could write into the cache gains no more than a design has. A policy of
another version, or another Python, has a folder of its own.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
import threading
from functools import lru_cache
from pathlib import Path

from spade_envs.language import POLICY_VERSION

FORM = 2  # of what is kept; what was kept in another one is not found
MOST_IN_MEMORY, MOST_FILES, MOST_BYTES = 512, 4096, 256 << 10
_DIGEST_BYTES = 32

_memory: dict[str, bytes] = {}
_lock = threading.Lock()


def recall(source: str) -> bytes | None:
    """Return the code that was kept for a source, if any."""
    key = _key(source)
    if key not in _memory and (code := _read(_folder() / key)) is not None:
        _remember(key, code)
    return _memory.get(key)


def keep(source: str, code: bytes) -> None:
    """Keep a source's code, unless it is huge. A cache folder that cannot be written is done without."""
    if len(code) > MOST_BYTES:
        return
    key = _key(source)
    _remember(key, code)
    with contextlib.suppress(OSError):
        _write(_folder() / key, code)


def forget() -> None:
    """Forget what is kept in memory."""
    _memory.clear()


def _key(source: str) -> str:
    return hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()


def _remember(key: str, code: bytes) -> None:
    with _lock:
        while len(_memory) >= MOST_IN_MEMORY:
            del _memory[next(iter(_memory))]
        _memory[key] = code


@lru_cache(maxsize=1)
def _folder() -> Path:
    from platformdirs import user_cache_path

    version = f"policy{POLICY_VERSION}-{sys.implementation.cache_tag}-{FORM}"
    return user_cache_path("spade-envs", appauthor=False) / "code" / version


def _read(path: Path) -> bytes | None:
    """Return a file's code where the file is whole and the user's own."""
    try:
        with path.open("rb") as file:
            content = file.read() if os.fstat(file.fileno()).st_uid == os.geteuid() else b""
    except OSError:
        return None
    digest, code = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
    return code if hashlib.sha256(code).digest() == digest else None


def _write(path: Path, code: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        try:
            file.write(hashlib.sha256(code).digest() + code)
            file.close()
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise
    _prune(path.parent)


def _prune(folder: Path) -> None:
    """Delete the older half of the files where there are too many."""
    names = os.listdir(folder)
    if len(names) > MOST_FILES:
        by_age = sorted((folder / name for name in names), key=lambda path: path.stat().st_mtime)
        for path in by_age[: len(by_age) // 2]:
            path.unlink(missing_ok=True)
