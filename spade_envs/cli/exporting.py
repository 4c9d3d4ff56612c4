"""The subcommand export: versions on their way out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from spade_envs.cli.judge import that_is_there
from spade_envs.cli.output import out
from spade_envs.transfer import Format, chosen
from spade_envs.transfer import export as write

Destination = Annotated[
    Path, typer.Argument(metavar="DEST", help="A folder, or a file that ends with .zip, .whl or .jsonl.")
]
Ids = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[ID...]", help="Without -vN, the newest of a name; all versions where none is named."
    ),
]


def export(
    destination: Destination,
    ids: Ids = None,
    registry: Annotated[
        Path | None,
        typer.Option("--registry", metavar="DIR", help="Only this registry; the whole stack by default."),
    ] = None,
    format: Annotated[Format | None, typer.Option(help="Guessed from DEST's ending where missing.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an earlier export.")] = False,
) -> None:
    """Write versions with their reports to a folder, a zip, a wheel or a data set.

    The folder is itself a registry; the wheel registers its environments when it is imported, and is named as
    wheels are: my_envs-1.0-py3-none-any.whl.
    """
    versions = chosen(ids or (), that_is_there(registry) if registry else None)
    written = write(destination, versions, format=format, force=force)
    out().print(f"{len(versions)} versions written to {escape(str(destination))} ({written})", soft_wrap=True)
