"""The subcommand refused: which designs a registry refused, and why."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from spade_envs.cli import options
from spade_envs.cli.output import out, print_json, remark
from spade_envs.contract.ids import near_matches
from spade_envs.contract.printable import printable
from spade_envs.records import Refusal, reading
from spade_envs.registry.refused import refused_design
from spade_envs.registry.store import Registry


def refused(
    registry: options.Into = None,
    gate: Annotated[str | None, typer.Option(help="Only those that this gate refused first.")] = None,
    last: Annotated[int, typer.Option(min=0, help="How many, the newest first; 0 for all.")] = 50,
    as_json: options.AsJson = False,
) -> None:
    """List the designs that a registry refused, with the reasons."""
    target = options.existing(registry)
    with target.records.reading() as connection:
        shown = reading.refusals(connection, last or None, gate)
        gates = reading.refused_by(connection)
    if as_json:
        print_json([_document(target, one) for one in shown])
    else:
        out().print(_table(shown))
        total = sum(gates.values()) if gate is None else gates.get(gate, 0)
        out().print(f"{len(shown)} of {total} refused designs")
    if gate is not None and gate not in gates:
        near = near_matches(gate, gates)
        mend = f"; did you mean {options.said(near)}?" if near else ""
        remark(f"no design was refused by the gate {gate!r}{mend}")


def _table(refusals: list[Refusal]) -> Table:
    table = Table("last refused", "times", "id", "gate", "reasons", "file", box=None, header_style="bold")
    for one in refusals:
        name = f"{one.code_sha256[:16]}.py"
        reasons = "\n".join(map(printable, one.reasons))
        row = (one.last_at[:16], str(one.times), one.id or "-", one.gate, reasons, name)
        table.add_row(*map(escape, row))
    return table


def _document(registry: Registry, refusal: Refusal) -> dict[str, Any]:
    """Return the last report as it is kept; where there is no room for it any more, what is on record of it."""
    kept = refused_design(registry.root, refusal.code_sha256)
    return kept.as_dict() if kept else {**refusal.as_dict(), "path": None}
