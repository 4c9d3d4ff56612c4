"""How the command is stopped from outside: by Ctrl-C, by SIGTERM, by the end of its terminal."""

from __future__ import annotations

import os
import signal
import sys
from typing import NoReturn


class Terminated(KeyboardInterrupt):
    """A signal asks the process to end. It is cleaned up as after Ctrl-C.

    Attributes:
        code: the exit code that a shell would report.
    """

    def __init__(self, number: int) -> None:
        super().__init__(f"stopped by {signal.Signals(number).name}")
        self.code = 128 + number


def provide() -> None:
    """Have signals that would end the process at once raise :class:`Terminated`; one that is ignored stays so."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _terminate)
    _open_what_is_closed()


def _terminate(number: int, _: object) -> NoReturn:
    raise Terminated(number)


def _open_what_is_closed() -> None:
    """Have a stream that was closed before the command began lead nowhere."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 (for as long as the process lives)
