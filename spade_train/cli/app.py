"""The command's frame: which subcommand a line means, and the one place where errors become exit codes."""

from __future__ import annotations

import contextlib
import difflib
import importlib
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence

from rich.console import Console

from spade_envs.errors import SpadeError, UsageError

COMMANDS = {
    "train": "spade_train.cli.train",
    "design": "spade_train.cli.design",
    "resume": "spade_train.cli.resume",
    "rollback": "spade_train.cli.rollback",
    "list": "spade_train.cli.runs",
    "show": "spade_train.cli.show",
    "eval": "spade_train.cli.evaluate",
    "data": "spade_train.cli.data",
    "corpus": "spade_train.cli.corpus",
    "saw": "spade_train.cli.saw",
    "report": "spade_train.cli.report",
}
"""Word -> the module whose ``run(words, console)`` obeys it. Imported when it is asked for: some load PyTorch."""

DONE, FAILED, WRONG_USE, STOPPED = 0, 1, 2, 130


class Terminated(KeyboardInterrupt):
    """SIGTERM, as schedulers send it: what Ctrl-C saves is saved."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and leave with its exit code: 0 done, 1 failed, 2 wrong use, 130 interrupted, 143 ended."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    console = Console(highlight=False, soft_wrap=True)
    try:
        with _terminable():
            _run(words, console)
        sys.stdout.flush()  # here a full disk can still be said
    except BrokenPipeError:  # the reader of a pipe has seen enough
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except SpadeError as problem:
        print(f"spade-train: {problem}", file=sys.stderr)
        sys.exit(WRONG_USE if isinstance(problem, UsageError) else FAILED)
    except KeyboardInterrupt as stopped:
        console.print("\nStopped. What was admitted and recorded stays in the run's folder.")
        sys.exit(128 + signal.SIGTERM if isinstance(stopped, Terminated) else STOPPED)


@contextlib.contextmanager
def _terminable() -> Iterator[None]:
    """Let SIGTERM do what Ctrl-C does; in a thread, signals are the main program's."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(*_: object) -> None:
        raise Terminated

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _run(words: list[str], console: Console) -> None:
    """Obey the first word, or train where it is a flag."""
    name, rest = ("train", words) if not words or words[0].startswith("-") else (words[0], words[1:])
    if name not in COMMANDS:
        near = difflib.get_close_matches(name, COMMANDS, n=1)
        mend = (
            f"Did you mean {near[0]}?"
            if near
            else f"There are {', '.join(COMMANDS)}; a setting begins with --."
        )
        raise UsageError(f"there is no command {name}. {mend}")
    importlib.import_module(COMMANDS[name]).run(rest, console)
