"""A worker whose design is thought to have escaped the language: it evaluates any Python that a test sends."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

from spade_envs.isolation import Limits, Worker, fork_server

HASH_SEED = 77  # a zygote of its own
SITE = """
import sys
sys.path.append({here!r})
import ctypes, os, socket
import sums
from spade_envs.isolation import session
from spade_envs.language import run_program

prepare = session.Session.__init__

def init(self, limits, places=None):
    prepare(self, limits, places)
    self._operations["attempt"] = lambda text: [repr(eval(text, globals()))]

session.Session.__init__ = init
"""


class Escaped:
    """One such worker; started again where a test has ended it."""

    def __init__(self) -> None:
        self._worker = self._start()

    def run(self, expression: str) -> str:
        """Evaluate an expression in the locked worker and return its value's repr."""
        if not self._worker.alive:
            self._worker = self._start()
        return str(*self._worker._ask("attempt", 1, expression))

    def close(self) -> None:
        self._worker.close()

    def _start(self) -> Worker:
        return Worker.start(Limits(call_s=30), HASH_SEED)


@contextlib.contextmanager
def escaped(folder: Path) -> Iterator[Escaped]:
    """Start one; Python imports ``sitecustomize`` from the folder as the zygote starts."""
    (folder / "sitecustomize.py").write_text(SITE.format(here=str(Path(__file__).parent)))
    sys.path.insert(0, str(folder))
    try:
        worker = Escaped()
    finally:
        sys.path.remove(str(folder))
    try:
        yield worker
    finally:
        worker.close()
        fork_server._zygotes.pop(HASH_SEED).close()
