"""What all subcommands write with: the consoles, JSON, and remarks that may come to nothing."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Any, TextIO

from rich.console import Console
from rich.text import Text

from spade_envs.contract.printable import printable, printable_json

LINES = "\n\t"
"""What a text of several lines keeps when it is made printable."""


class _Console(Console):
    """A console to which no text is a command, whoever wrote it."""

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(printable(text, keep=LINES), **options)

    def on_broken_pipe(self) -> None:
        raise  # Rich calls this while it handles the error, and would end the process


def out() -> Console:
    """Return the console of results: no colours where ``NO_COLOR`` is set or it is no terminal."""
    return _Console(highlight=False, soft_wrap=False, emoji=False)


def err() -> Console:
    """Return the console of progress and remarks."""
    return _Console(stderr=True, highlight=False, emoji=False)


def print_json(data: Any) -> None:
    """Print data as JSON, one document."""
    print(printable_json(data, indent=2))


def remark(text: str) -> None:
    """Say something on standard error; where nobody can hear it any more, nothing."""
    try:
        print(printable(text, keep=LINES), file=sys.stderr, flush=True)
    except OSError:
        mute(sys.stderr)


def mute(stream: TextIO) -> None:
    """Have what is still written to a stream go nowhere, so that the interpreter does not fail to when it ends."""
    with contextlib.suppress(OSError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
