"""The subcommand replay: an episode played again in the terminal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from spade_envs.cli.output import out
from spade_envs.cli.reading import read_design
from spade_envs.contract import Rejection
from spade_envs.contract.plain import from_json
from spade_envs.contract.printable import printable, printable_json
from spade_envs.envs import chosen_level, header_of
from spade_envs.errors import UsageError
from spade_envs.registry.integrity import REPORT_LIMIT, Missing, bounded
from spade_envs.registry.stack import find
from spade_envs.replay import Step, episode_of
from spade_envs.replay import replay as played

Subject = Annotated[
    str,
    typer.Argument(
        metavar="ID", help="For example spade/LampRow-v0; or a design's file with its report beside it."
    ),
]
_ONE = "give one of --actions, --report-finding and --expert"


def replay(
    env_id: Subject,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the episode; 0 where missing.")] = None,
    difficulty: Annotated[int | None, typer.Option(min=1, help="Difficulty level; 1 where missing.")] = None,
    actions: Annotated[
        str | None,
        typer.Option(metavar="JSON|@FILE", help="A JSON list of actions, or a file that holds one."),
    ] = None,
    report_finding: Annotated[
        int | None,
        typer.Option(metavar="K", min=1, help="The episode behind the K-th finding of the admission report."),
    ] = None,
    expert: Annotated[bool, typer.Option("--expert", help="Play the expert's episode.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document a step.")] = False,
) -> None:
    """Play a recorded episode again, step by step: what an agent reads, what was done, what it earned."""
    if (actions is not None) + (report_finding is not None) + expert != 1:
        raise UsageError(_ONE)
    source, report = _subject(env_id)
    if report_finding is not None:
        if seed is not None or difficulty is not None:
            raise UsageError("the report has the episode's seed and level; leave out --seed and --difficulty")
        recorded, finding = episode_of(report, report_finding)
        if not as_json:
            _line(f"{finding.get('found')} [{finding.get('rule')}]")
        _show(played(source, recorded.level, recorded.seed, recorded.actions), as_json)
        return
    level = chosen_level(header_of(source), difficulty)
    _show(played(source, level, seed or 0, None if actions is None else _listed(actions)), as_json)


def _subject(text: str) -> tuple[str, dict[str, Any]]:
    """Return the source and the report of a version, or of a design in a file."""
    if not text.endswith(".py"):
        registry, env_id = find(text)
        entry = registry.entry(env_id)
        return entry.source, entry.report
    source = read_design(Path(text))
    if isinstance(source, Rejection):
        raise UsageError(source.text(text))
    beside = bounded(Path(text).with_suffix(".json"), REPORT_LIMIT)
    return source, {} if isinstance(beside, Missing) else _parsed(
        beside.decode(), f"the report beside {text}", dict
    )


def _listed(text: str) -> list[Any]:
    """Return the actions that an option gives, or names the file of."""
    if not text.startswith("@"):
        return list(_parsed(text, "--actions", list))
    data = bounded(Path(text[1:]), REPORT_LIMIT)
    if isinstance(data, Missing):
        raise UsageError(f"{printable(text[1:])} {data.why}")
    return list(_parsed(data.decode("utf-8", "replace"), text[1:], list))


def _parsed(text: str, name: str, kind: type) -> Any:
    try:
        data = from_json(text)
    except ValueError as error:
        raise UsageError(f"{printable(name)} is no JSON: {error}") from None
    if not isinstance(data, kind):
        raise UsageError(f"{printable(name)} holds no JSON {'list' if kind is list else 'object'}")
    return data


def _show(steps: Iterable[Step], as_json: bool) -> None:
    total = 0.0
    step = None
    for step in steps:
        total += step.reward
        if as_json:
            print(printable_json(asdict(step)), flush=True)
        else:
            _print(step)
    if step and not as_json:
        out().print(f"\n[bold]{_ending(step)}[/bold], return {total:g} after {step.number} actions.")


def _print(step: Step) -> None:
    if step.action is not None:
        _line(f"\n> {step.action}")
    elif step.number:
        _line("\n(reset without a seed)")
    _line(step.text if step.fault is None else f"stopped: {step.fault}")


def _ending(step: Step) -> str:
    if step.fault is not None:
        return "The worker was stopped"
    if step.success:
        return "The goal was reached"
    return "The goal was not reached" if step.over else "The episode goes on"


def _line(text: str) -> None:
    out().print(escape(text), soft_wrap=True)
