"""Reading subcommands about one environment: show, source."""

from __future__ import annotations

from typing import Any

from rich.markup import escape
from rich.syntax import Syntax
from rich.table import Table

from spade_envs.cli.listing import rate
from spade_envs.cli.options import AsJson, Id
from spade_envs.cli.output import LINES, out, print_json
from spade_envs.contract.ids import EnvId
from spade_envs.contract.plain import plain
from spade_envs.contract.printable import printable
from spade_envs.records import Measured, StatusChange
from spade_envs.registry.stack import find, registries
from spade_envs.registry.versions import Entry, numbers


def show(env_id: Id, as_json: AsJson = False) -> None:
    """Show one environment: what it is, where it stands, its rules, what was measured, and what admission saw."""
    registry, found = find(env_id)
    entry = registry.entry(found)
    life = _life(found)
    if as_json:
        print_json({**_as_dict(entry), **life, "report": entry.report})
        return
    console = out()
    console.print(f"[bold]{entry.header.id}[/bold]  {escape(entry.header.title)}")
    console.print(escape(entry.header.summary))
    console.print(_table({**_facts(entry), **_standing(life)}))
    gates: list[dict[str, Any]] = entry.report.get("gates", [])
    saw = gates[0].get("saw", {}) if gates else {}
    if saw.get("rules"):
        console.print("\n[bold]Rules[/bold]")
        console.print(escape(saw["rules"]))
    if life["measurements"]:
        console.print("\n[bold]Measured[/bold]")
        console.print(_measures(life["measurements"]))
    if life["provenance"]:
        console.print("\n[bold]Made by[/bold]")
        console.print(_table(life["provenance"]))
    if entry.report.get("scores"):
        _print_worth(entry.report)
    for gate in gates[1:]:
        console.print(f"\n[bold]{_line(gate['name'])}[/bold]")
        for name, value in gate.get("saw", {}).items():
            console.print(f"  {_line(name)}: {_line(value)}")


def source(env_id: Id) -> None:
    """Print the source of one environment."""
    registry, found = find(env_id)
    text = registry.source(found)
    if out().is_terminal:
        out().print(Syntax(printable(text, keep=LINES), "python", background_color="default"))
    else:
        print(text, end="")


def _life(env_id: EnvId) -> dict[str, Any]:
    """Return what happened since the admission, as JSON-ready data."""
    from spade_envs.registry.history import history
    from spade_envs.registry.lineage import lineage
    from spade_envs.registry.overview import known

    record, events = known(str(env_id)), [event.what for event in history(str(env_id))]
    changes = [change for change in events if isinstance(change, StatusChange)]
    taken = {v for registry in registries() for v in numbers(registry.root / env_id.name)}
    return {
        "status": record.listed.status if record else None,
        "status_since": record.listed.status_since if record else None,
        "status_reason": changes[-1].reason if changes else None,
        "run": record.listed.run if record else None,
        "round": record.listed.round if record else None,
        "provenance": record.listed.provenance if record else {},
        "measurements": [one.as_dict() for one in events if isinstance(one, Measured)],
        "children": [child.id for child in lineage(str(env_id), depth=1).member.children],
        "versions": [str(EnvId(env_id.name, version)) for version in sorted(taken)],
    }


def _as_dict(entry: Entry) -> dict[str, Any]:
    header = plain(entry.header)
    header |= {
        "id": str(entry.header.id),
        "parent": str(entry.header.parent) if entry.header.parent else None,
    }
    return {**header, "path": str(entry.path), "file_sha256": entry.file_sha256}


def _facts(entry: Entry) -> dict[str, Any]:
    header = entry.header
    return {
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


def _standing(life: dict[str, Any]) -> dict[str, Any]:
    since = f" since {life['status_since'][:16]}" if life["status_since"] else ""
    why = f": {life['status_reason']}" if life["status_reason"] else ""
    where = None if life["run"] is None else f"{life['run']}, round {life['round']}"
    others = [env_id.rpartition("-")[2] for env_id in life["versions"]]
    return {
        "status": f"{life['status']}{since}{why}" if life["status"] else None,
        "admitted by": where,
        "children": len(life["children"]) or None,
        "versions": ", ".join(others) if len(others) > 1 else None,
    }


def _table(facts: dict[str, Any]) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for name, value in facts.items():
        if value is not None:
            table.add_row(_line(name), _line(value))
    return table


def _measures(measured: list[dict[str, Any]]) -> Table:
    table = Table("run", "round", box=None, header_style="bold", padding=(0, 2, 0, 0))
    for name in ("plays", "success", "with hint", "regret", "steps", "faults"):
        table.add_column(name, justify="right")
    for one in measured:
        regret = rate(one["regret"])
        if one["regret_low"] is not None:
            regret += f" [{one['regret_low']:.2f}, {one['regret_high']:.2f}]"
        plays = f"{one['plays']}+{one['hinted_plays']}"
        numbers = (rate(one["success"]), rate(one["hinted_success"]), escape(regret), rate(one["mean_steps"]))
        table.add_row(_line(one["run"]), str(one["round"]), plays, *numbers, str(one["faults"]))
    return table


def _print_worth(report: dict[str, Any]) -> None:
    out().print("\n[bold]Scores[/bold]")
    for name, value in report["scores"].items():
        out().print(f"  {_line(name)}: {_line(value)}")
    pool = report.get("active_pool", {})
    reasons = "; ".join(pool.get("reasons", ()))
    out().print(f"  active pool: {'enters' if pool.get('enters') else escape(f'stays out: {reasons}')}")


def _line(value: object) -> str:
    """Return what a report or a path says as one line of markup."""
    return escape(printable(str(value)))
