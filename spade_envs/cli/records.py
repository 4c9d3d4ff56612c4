"""The subcommand rebuild: a registry's records made anew from its files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from spade_envs.cli import options
from spade_envs.cli.output import out, print_json
from spade_envs.cli.progress import progress
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
    with progress("reading", len(target.names())) as advance:
        done = anew.rebuild(target, force=force, progress=advance)
    if as_json:
        print_json(done.as_dict())
    else:
        for line in _lines(done):
            out().print(line, soft_wrap=True, markup=False)


def _lines(done: Rebuilt) -> Iterator[str]:
    """Say what was done, then what was lost."""
    yield f"on record: {_counted(done.versions, 'versions')}"
    if done.found == "missing":
        yield "there were no records: of what no file holds, nothing is known"
    elif done.entered:
        yield f"not on record before: {_named(done.entered)}"
    if done.salvaged:
        yield f"kept from the old records: {', '.join(_counted(n, what) for what, n in done.salvaged.items())}"
    if done.unreadable:
        yield f"their files are broken; what is on record of them is kept: {_named(done.unreadable)}"
    if done.gone:
        yield f"their files are gone; what is on record of them is kept: {_named(done.gone)}"
    for what, count in done.lost.items():
        yield f"lost: {_counted(count, what)}"
    if done.old:
        yield f"the old records lie in {printable(str(done.old))}"
    elif done.found != "missing":
        yield "nothing was lost"


def _counted(count: int | None, what: str) -> str:
    one, many = _WORDS[what]
    if count is None:
        return f"{many}, nobody can tell how many"
    return f"{count:,} {one if count == 1 else many}"


_WORDS = {
    "versions": ("version", "versions"),
    "others": ("version that has no file here", "versions that have no file here"),
    "statuses": ("status change", "status changes"),
    "measurements": ("measurement", "measurements"),
    "choices": ("choice", "choices"),
    "refusals": ("refused design", "refused designs"),
    "newer": ("what only the newer schema has",) * 2,
}


def _named(ids: tuple[str, ...]) -> str:
    more = f" and {len(ids) - MOST_NAMED:,} more" if len(ids) > MOST_NAMED else ""
    return ", ".join(ids[:MOST_NAMED]) + more
