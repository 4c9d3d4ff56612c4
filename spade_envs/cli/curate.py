"""Subcommands that change where environments stand: retire, activate, rollback."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from spade_envs.cli import options
from spade_envs.cli.listing import coloured
from spade_envs.cli.output import out, print_json, remark
from spade_envs.contract.ids import near_matches
from spade_envs.contract.printable import printable
from spade_envs.errors import UsageError
from spade_envs.records import StatusChange
from spade_envs.records.values import Status
from spade_envs.registry.stack import find
from spade_envs.registry.store import Registry


def retire(
    ids: options.Ids,
    reason: Annotated[str, typer.Option(help="Why, in a few words; it is kept.")],
    registry: options.Into = None,
    as_json: options.AsJson = False,
) -> None:
    """Take environments out of the pool of those that are chosen for training. They can still be made."""
    _change(ids, "retired", reason, registry, as_json)


def activate(
    ids: options.Ids,
    reason: Annotated[str, typer.Option(help="Why, in a few words; it is kept.")] = "activated by hand",
    registry: options.Into = None,
    as_json: options.AsJson = False,
) -> None:
    """Put environments into the pool of those that are chosen for training, wherever they stood."""
    _change(ids, "active", reason, registry, as_json)


def rollback(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The name of a run, or its folder.")],
    round: Annotated[int, typer.Argument(metavar="ROUND", help="The last round that counts.")],
    registry: Annotated[
        Path | None,
        typer.Option("--registry", metavar="DIR", help="In whose records; the run folder's, or the user's."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would change.")] = False,
    as_json: options.AsJson = False,
) -> None:
    """Have environments stand where they stood when a round of a run ended; what it admitted later is retired.

    Each change is on record. Going back to a later round afterwards gives all of it back.
    """
    from spade_envs.records import changes, reading

    target, name = _of_run(run, registry)
    _check_run(target, name)
    records = target.records.reading() if dry_run else target.own_records.writing()
    with records as connection:
        made = changes.to_roll_back(connection, name, round)
        before = {one: status for one, (_, status) in reading.told(connection, [m.id for m in made]).items()}
        if not dry_run:
            changes.roll_back(connection, name, round)
    _show(made, before, as_json)
    if not as_json:
        would = "would change" if dry_run else "changed"
        out().print(f"{len(made):,} environments {would} in {target}")


def _change(ids: list[str], status: Status, reason: str, folder: Path | None, as_json: bool) -> None:
    from spade_envs.registry.overview import known
    from spade_envs.registry.status import change

    target = options.existing(folder)
    stack = options.with_one(target)
    found = [str(find(text, stack)[1]) for text in dict.fromkeys(ids)]
    before = {one: record.listed.status for one in found if (record := known(one, stack))}
    made: list[StatusChange] = []
    for place, some in _places(found, target if folder else None).items():
        made += change(some, status, reason, place)
    _show(made, before, as_json)
    for one in found:
        if one not in {done.id for done in made}:
            remark(f"{one} is {status} already")
        elif (seen := known(one, stack)) and seen.listed.status != status:
            remark(f"a registry further up says that {one} is {seen.listed.status}, and that counts")


def _places(ids: list[str], target: Registry | None) -> dict[Registry, list[str]]:
    """Return in which registry's records each change is written: where it is seen, if nobody names one."""
    from spade_envs.registry.status import home

    places: dict[Registry, list[str]] = {}
    for one in ids:
        place = target or home(one, options.only(None), options.existing(None))
        places.setdefault(place, []).append(one)
    return places


def _of_run(run: str, folder: Path | None) -> tuple[Registry, str]:
    """Return the registry that a run's name or folder means, and the run's name in it."""
    path = Path(run).expanduser().absolute()
    if folder is None and (path / "registry").is_dir():
        return options.existing(path / "registry"), path.name
    return options.existing(folder), path.name if path.is_dir() else run


def _check_run(registry: Registry, run: str) -> None:
    from spade_envs.records import reading

    with registry.records.reading() as connection:
        runs = reading.runs(connection)
    if run not in runs:
        near = near_matches(run, runs)
        mend = (
            f"did you mean {options.said(near)}?"
            if near
            else "name its folder, or its registry by --registry"
        )
        raise UsageError(f"nothing of a run {printable(run)!r} is on record in {registry}; {mend}")


def _show(made: list[StatusChange], before: Mapping[str, str], as_json: bool) -> None:
    if as_json:
        print_json([{**one.as_dict(), "before": before.get(one.id)} for one in made])
        return
    if not made:
        return
    table = Table("id", "before", "now", "reason", box=None, header_style="bold", padding=(0, 2, 0, 0))
    for one in made:
        was, now = coloured(before.get(one.id)), coloured(one.status)
        table.add_row(escape(one.id), was, now, escape(printable(one.reason)))
    out().print(table)
