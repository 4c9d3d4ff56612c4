"""A limit on the CPU time of an agent's program: an endless answer is a wrong one, not a dead worker."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

AGAIN_S = 0.05
"""How soon the alarm rings again: a program may swallow the first ring in a ``finally`` of its own."""


class ProgramTimeoutError(BaseException):
    """The program used up its CPU time. Programs cannot catch it: they can name ``Exception`` and below."""


_armed = False


@contextmanager
def cpu_limit(seconds: float) -> Iterator[None]:
    """Stop what runs in this block after so much CPU time. Inside of such a block it changes nothing.

    It works in the main thread only, where signals arrive, and between steps of Python's interpreter: one
    endless call into C is left to the worker's deadline.

    Raises:
        ProgramTimeoutError: the time is used up.
    """
    global _armed
    if _armed or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGVTALRM, _ring)
    _armed = True
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, AGAIN_S)
    try:
        try:
            yield
        finally:
            _armed = False
    finally:  # a ring that came before the line above has led here, and the next one is not due yet
        _armed = False
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _ring(*_: object) -> None:
    if _armed:
        raise ProgramTimeoutError
