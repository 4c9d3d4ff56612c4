"""The subcommand doctor: what isolation holds on this machine, by trial, and how the registries are."""

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
from spade_envs.registry.examine import Examined, examine


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> int:
    """Try which layers of isolation hold on this machine, look at the registries, and say how to mend what is wrong."""
    found, registries = diagnose(), examine()
    sound = found.sound and not any(one.problems for one in registries)
    if as_json:
        told = [one.as_dict() for one in registries]
        print_json({"sound": sound, **asdict(found), "registries": told})
    else:
        _print(found)
        _print_registries(registries)
    return DONE if sound else CANNOT_RUN


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


def _print_registries(registries: list[Examined]) -> None:
    table = Table("registry", "versions", "on record", "records", "free", "", box=None, header_style="bold")
    for one in registries:
        numbers = (f"{one.files:,}", "-" if one.recorded is None else f"{one.recorded:,}", one.records or "-")
        free = "-" if one.free is None else f"{one.free / 2**30:,.1f} GiB"
        verdict = "[red]see below[/red]" if one.problems else "[green]sound[/green]"
        table.add_row(escape(one.registry), *numbers, free, verdict)
    out().print()
    out().print(table)
    for one in registries:
        for problem in one.problems:
            out().print(f"\n[bold]{escape(one.registry)}[/bold]: {escape(problem)}", soft_wrap=True)


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
