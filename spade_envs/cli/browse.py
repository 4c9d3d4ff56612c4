"""Reading subcommands: list, show, source."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.syntax import Syntax
from rich.table import Column, Table

from spade_envs.cli.output import LINES, out, print_json
from spade_envs.contract import DOMAINS
from spade_envs.contract.plain import plain
from spade_envs.contract.printable import printable
from spade_envs.errors import UsageError
from spade_envs.registry.stack import find, registries
from spade_envs.registry.versions import Entry

Id = Annotated[
    str, typer.Argument(metavar="ID", help="For example spade/LampRow-v0; without -vN, the newest.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


def list_(
    domain: Annotated[str | None, typer.Option(help="Only environments of this domain.")] = None,
    skill: Annotated[str | None, typer.Option(help="Only environments with this skill.")] = None,
    all_versions: Annotated[bool, typer.Option("--all", help="Older versions, too.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the environments of all registries."""
    if domain not in (None, *DOMAINS):
        raise UsageError(f"there is no domain {domain!r}; there are {', '.join(sorted(DOMAINS))}")
    entries = _newest_or_all(all_versions)
    entries = [
        e for e in entries if domain in (None, e.header.domain) and (not skill or skill in e.header.skills)
    ]
    if as_json:
        print_json([_as_dict(entry) for entry in entries])
        return
    if not out().is_terminal:
        for entry in entries:
            print(f"{entry.header.id}\t{entry.header.domain}\t{entry.header.title}")
        return
    others = ("title", "domain", "skills", "levels", "steps")
    table = Table(Column("id", no_wrap=True, min_width=24), *others, box=None, header_style="bold")
    for entry in entries:
        header = entry.header
        levels = str(header.difficulty_levels or "-")
        texts = (str(header.id), header.title, header.domain, ", ".join(header.skills))
        table.add_row(*map(escape, texts), levels, str(header.max_episode_steps))
    out().print(table)
    out().print(f"{len(entries)} environments")


def show(env_id: Id, as_json: AsJson = False) -> None:
    """Show one environment: what it is, its rules, and what admission saw."""
    registry, found = find(env_id)
    entry = registry.entry(found)
    if as_json:
        print_json({**_as_dict(entry), "report": entry.report})
        return
    console = out()
    console.print(f"[bold]{entry.header.id}[/bold]  {escape(entry.header.title)}")
    console.print(escape(entry.header.summary))
    console.print(_facts(entry))
    gates: list[dict[str, Any]] = entry.report.get("gates", [])
    saw = gates[0].get("saw", {}) if gates else {}
    if saw.get("rules"):
        console.print("\n[bold]Rules[/bold]")
        console.print(escape(saw["rules"]))
    if entry.report.get("scores"):
        _print_worth(entry.report)
    for gate in gates[1:]:
        console.print(f"\n[bold]{_line(gate['name'])}[/bold]")
        for name, value in gate.get("saw", {}).items():
            console.print(f"  {_line(name)}: {_line(value)}")


def _print_worth(report: dict[str, Any]) -> None:
    out().print("\n[bold]Scores[/bold]")
    for name, value in report["scores"].items():
        out().print(f"  {_line(name)}: {_line(value)}")
    pool = report.get("active_pool", {})
    reasons = "; ".join(pool.get("reasons", ()))
    out().print(f"  active pool: {'enters' if pool.get('enters') else escape(f'stays out: {reasons}')}")


def source(env_id: Id) -> None:
    """Print the source of one environment."""
    registry, found = find(env_id)
    text = registry.source(found)
    if out().is_terminal:
        out().print(Syntax(printable(text, keep=LINES), "python", background_color="default"))
    else:
        print(text, end="")


def _newest_or_all(all_versions: bool) -> list[Entry]:
    entries = {str(e.header.id): e for registry in reversed(registries()) for e in registry.entries()}
    ordered = sorted(entries.values(), key=lambda e: e.header.id)
    return ordered if all_versions else list({e.header.id.name: e for e in ordered}.values())


def _as_dict(entry: Entry) -> dict[str, Any]:
    header = plain(entry.header)
    header |= {
        "id": str(entry.header.id),
        "parent": str(entry.header.parent) if entry.header.parent else None,
    }
    return {**header, "path": str(entry.path), "file_sha256": entry.file_sha256}


def _facts(entry: Entry) -> Table:
    header, table = entry.header, Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    facts = {
        "domain": header.domain,
        "skills": ", ".join(header.skills),
        "origin": header.origin
        if header.generation_round is None
        else f"generated in round {header.generation_round}",
        "parent": header.parent,
        "steps at most": header.max_episode_steps,
        "difficulty levels": header.difficulty_levels,
        "licence": header.license,
        "file": entry.path,
        "sha256": entry.file_sha256,
    }
    for name, value in facts.items():
        if value is not None:
            table.add_row(name, _line(value))
    return table


def _line(value: object) -> str:
    """Return what a report or a path says as one line of markup."""
    return escape(printable(str(value)))
