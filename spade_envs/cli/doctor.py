"""The subcommand doctor: what isolation holds on this machine, by trial."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from spade_envs.cli.codes import CANNOT_RUN, DONE
from spade_envs.cli.output import out, print_json
from spade_envs.isolation.doctor import SIGNAL, Attempt, Diagnosis, Layer, diagnose
from spade_envs.isolation.seccomp import KILLED


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> int:
    """Try which layers of isolation hold on this machine, and say how to get those that do not."""
    found = diagnose()
    if as_json:
        print_json({"sound": found.sound, **asdict(found)})
    else:
        _print(found)
    return DONE if found.sound else CANNOT_RUN


def _print(found: Diagnosis) -> None:
    out().print(_layers(found.layers))
    if found.attempts:
        out().print()
        out().print(_attempts(found.attempts))
        calls = [a.name for a in found.attempts if a.name in KILLED and a.answer == SIGNAL]
        out().print(f"\nEnd a worker with {SIGNAL}: {', '.join(calls)}")
    for layer in found.layers:
        if not layer.holds:
            out().print(f"\n[bold]{escape(layer.name)}[/bold]: {escape(layer.remedy)}", soft_wrap=True)


def _layers(layers: tuple[Layer, ...]) -> Table:
    table = Table("layer", "", "what it stops", "what was seen", box=None, header_style="bold")
    for layer in layers:
        lacking = "[red]missing[/red]" if layer.required else "[yellow]missing (optional)[/yellow]"
        verdict = "[green]holds[/green]" if layer.holds else lacking
        table.add_row(escape(layer.name), verdict, escape(layer.stops), escape(layer.seen))
    return table


def _attempts(attempts: tuple[Attempt, ...]) -> Table:
    answers: dict[str, dict[bool, str]] = defaultdict(dict)
    for attempt in (a for a in attempts if a.name not in KILLED or a.answer != SIGNAL):
        by = f" ({attempt.layer})" if attempt.layer else ""
        answers[attempt.name][attempt.filtered] = attempt.answer + by
    table = Table("attempt", "in a worker", "without the call filter", box=None, header_style="bold")
    for name, answer in answers.items():
        table.add_row(escape(name), escape(answer[True]), escape(answer.get(False, "")))
    return table
