"""The subcommand rebuild: a registry's records made anew from its files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from spade_envs.cli import options
from spade_envs.cli.output import err, out, print_json
from spade_envs.contract.printable import printable
from spade_envs.registry import rebuild as anew
from spade_envs.registry.rebuild import Rebuilt

MOST_NAMED = 10


def rebuild(
    registry: Annotated[
        Path | None,
        typer.Option("--registry", metavar="DIR", help="SPADE_REGISTRY or the user's by default."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Also from records of a newer schema; what only that has is lost.")
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Make a registry's records anew from its files; what only the old ones know is kept, as far as it can be read."""
    target = options.existing(registry)
    with _bar() as progress:
        done = anew.rebuild(target, force=force, progress=progress)
    if as_json:
        print_json(done.as_dict())
    else:
        for line in _lines(done):
            out().print(line, soft_wrap=True, markup=False)


def _lines(done: Rebuilt) -> Iterator[str]:
    """Say what was done, then what was lost."""
    yield f"{done.versions:,} versions are on record"
    if done.found == "missing":
        yield "there were no records: of what no file holds, nothing is known"
    elif done.entered:
        yield f"not on record before: {_named(done.entered)}"
    if done.salvaged:
        yield f"kept from the old records: {', '.join(f'{n:,} {what}' for what, n in done.salvaged.items())}"
    if done.unreadable:
        yield f"their files are broken; what is on record of them is kept: {_named(done.unreadable)}"
    if done.gone:
        yield f"their files are gone; what is on record of them is kept: {_named(done.gone)}"
    for what, count in done.lost.items():
        yield f"lost: {what}, of which nothing more is known" if count is None else f"lost: {count:,} {what}"
    if done.old:
        yield f"the old records lie in {printable(str(done.old))}"
    elif done.found != "missing":
        yield "nothing was lost"


def _named(ids: tuple[str, ...]) -> str:
    more = f" and {len(ids) - MOST_NAMED:,} more" if len(ids) > MOST_NAMED else ""
    return ", ".join(ids[:MOST_NAMED]) + more


@contextmanager
def _bar() -> Iterator[anew.Progress]:
    """Show how far it is, on a terminal only."""
    console = err()
    columns = (
        TextColumn("reading"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("reading", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
