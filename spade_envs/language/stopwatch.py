"""A limit on the CPU time of an agent's program: an endless answer is a wrong one, not a dead worker."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from spade_envs.language.names import FILENAME

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
        sys.settrace(None)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _ring(_: int, frame: FrameType | None) -> None:
    """Stop the program, and whatever it does instead: a `finally` or a `with` of its own may swallow one error."""
    if not _armed:
        return
    sys.settrace(_stop)
    while frame is not None:
        if frame.f_code.co_filename == FILENAME:
            frame.f_trace = _stop
        frame = frame.f_back
    raise ProgramTimeoutError


def _stop(frame: FrameType, event: str, _: object) -> Any:
    """Raise at every further line of the program; that of other code is left alone."""
    if frame.f_code.co_filename == FILENAME and event in ("call", "line") and _armed:
        raise ProgramTimeoutError
    return _stop if _armed else None
