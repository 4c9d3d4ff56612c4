"""Options that several subcommands share, and what becomes of them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from spade_envs.cli.completing import domains, ids, orders, statuses
from spade_envs.contract.printable import printable
from spade_envs.errors import UsageError
from spade_envs.records.values import EVERYTHING, Range, to_range
from spade_envs.registry.paths import user_registry
from spade_envs.registry.stack import Stack, registries
from spade_envs.registry.store import Registry

Id = Annotated[
    str,
    typer.Argument(
        metavar="ID", help="For example spade/LampRow-v0; without -vN, the newest.", autocompletion=ids
    ),
]
Ids = Annotated[
    list[str],
    typer.Argument(metavar="ID...", help="Ids; without -vN, the newest.", autocompletion=ids),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Domain = Annotated[str | None, typer.Option(help="Only environments of this domain.", autocompletion=domains)]
Skill = Annotated[str | None, typer.Option(help="Only environments with this skill.")]
Status = Annotated[
    str | None, typer.Option(help="Only those that stand there: active, retired ...", autocompletion=statuses)
]
Between = Annotated[str | None, typer.Option(metavar="A..B", help="From A to B; A.. and ..B are open.")]
Tools = Annotated[bool | None, typer.Option("--tools/--no-tools", help="Only those with tools, or without.")]
Origin = Annotated[str | None, typer.Option(help="seed or generated.")]
Run = Annotated[str | None, typer.Option(help="Only those that this run admitted.")]
Round = Annotated[int | None, typer.Option(help="Only those that were admitted in this round of a run.")]
Name = Annotated[str | None, typer.Option(help="Only versions of this name.")]
Sort = Annotated[
    str,
    typer.Option(
        help="name, or the largest first: newest, difficulty, regret, success, diversity, round.",
        autocompletion=orders,
    ),
]
AllVersions = Annotated[bool, typer.Option("--all", help="Older versions, too.")]
Limit = Annotated[int, typer.Option(min=0, help="How many; 0 for all.")]
Offset = Annotated[int | None, typer.Option(min=0, help="How many to leave out at the beginning.")]
PageNumber = Annotated[int | None, typer.Option("--page", min=1, help="Which part of --limit each, from 1.")]
Only = Annotated[
    Path | None, typer.Option("--registry", metavar="DIR", help="Only this registry, not the whole stack.")
]
Into = Annotated[
    Path | None,
    typer.Option(
        "--registry", metavar="DIR", help="In whose records; SPADE_REGISTRY or the user's by default."
    ),
]


def only(folder: Path | None) -> Stack:
    """Return the registries that are asked: all, or the one that is named."""
    return registries() if folder is None else [existing(folder)]


def existing(folder: Path | None) -> Registry:
    """Return the registry that is named, or the user's. Raises UsageError where there is none."""
    path = (folder or user_registry()).expanduser().absolute()
    known = next((one for one in registries() if one.root == path), Registry(path))
    if not path.exists() and folder is not None:
        raise UsageError(f"there is no registry {known}; check the spelling")
    known.check()
    return known


def with_one(registry: Registry) -> Stack:
    """Return all registries in force and, on top of them, this one if it is none of them."""
    return registries() if registry in registries() else [*registries(), registry]


def between(text: str | None, what: str) -> Range:
    """Read a range: ``A..B``, ``A..`` or ``..B``; without a text it holds everything. Raises UsageError."""
    return EVERYTHING if text is None else to_range(text, f"--{what}")


def first_of(limit: int, offset: int | None, page: int | None) -> int:
    """Return where a part begins. Raises UsageError where that is said twice or cannot be."""
    if offset is not None and page is not None:
        raise UsageError("--offset and --page both say where to begin; leave one out")
    if page is not None and page > 1 and not limit:
        raise UsageError("--limit 0 shows all on one page; leave out --page, or give a limit")
    return offset or 0 if page is None else (page - 1) * limit


def said(words: Iterable[str]) -> str:
    """Return words as a sentence names them."""
    return " or ".join(printable(word) for word in words)
