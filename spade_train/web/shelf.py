"""The runs of a folder, each read as it grows and by one request at a time."""

from __future__ import annotations

import contextlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from spade_train.report.gathering import FILES
from spade_train.report.reading import RunReader
from spade_train.report.values import RunFacts
from spade_train.runs.folder import RunFolder
from spade_train.runs.views import is_locked, is_run

KEPT = 200
"""How many runs' counts are kept in memory."""

_Seen = TypeVar("_Seen")


class UnknownRunError(LookupError):
    """The folder holds no such run, or no longer; the argument is its name."""


class Shelf:
    """The runs below a folder. Threads may share it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._readers: OrderedDict[str, tuple[threading.Lock, RunReader]] = OrderedDict()

    def names(self) -> list[str]:
        """Return the names of the runs, in order; none of a folder that is not there."""
        with contextlib.suppress(OSError):
            found = sorted(path.parent for path in self.folder.glob("*/config.json"))
            return [path.name for path in found if _can_be_asked_for(path.name) and is_run(path)]
        return []

    def facts(self, name: str) -> RunFacts:
        """Return a run as it is now. Raises UnknownRunError where there is none."""
        return self.look(name, RunReader.read)

    def look(self, name: str, at: Callable[[RunReader], _Seen]) -> _Seen:
        """Return what a look at a run gives; it has the run for itself. Raises UnknownRunError where there is none."""
        path = self._path(name)
        with self._lock:
            if name not in self._readers:
                self._readers[name] = threading.Lock(), RunReader(RunFolder(path))
            self._readers.move_to_end(name)
            lock, reader = self._readers[name]
            while len(self._readers) > KEPT:
                self._readers.popitem(last=False)
        with lock:
            return at(reader)

    def version(self, name: str) -> str:
        """Return what changes whenever something is written, at the price of a few looks at the folder.

        Raises UnknownRunError where there is no run.
        """
        path = self._path(name)
        seen = ["running" if is_locked(RunFolder(path)) else "still"]
        for file in ("config.json", "checkpoint", *(f"{one}.jsonl" for one in FILES)):
            with contextlib.suppress(OSError):
                found = (path / file).stat()
                seen.append(f"{found.st_size:x}.{found.st_mtime_ns & 0xFFFFFFFFF:x}")
        return "-".join(seen)

    def _path(self, name: str) -> Path:
        path = self.folder / name
        if name in ("", ".", "..") or "/" in name or "\0" in name or not is_run(path):
            raise UnknownRunError(name)
        return path


def _can_be_asked_for(name: str) -> bool:
    """Whether an address can hold a folder's name, which need not be text."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
