"""The bar that shows how much is done and how long the rest will take, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from spade_envs.cli.output import err


@contextmanager
def progress(what: str, total: int, done: int = 0) -> Iterator[Callable[[], None]]:
    """Show a bar with the time that is left; yields the function that moves it on."""
    console = err()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    bar = Progress(
        *columns,
        TextColumn("left:"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
        redirect_stdout=sys.stdout.isatty(),  # else results for a file or a pipe would go to the terminal
    )
    with bar:
        task = bar.add_task(what, total=total, completed=done)
        yield lambda: bar.advance(task)
