"""``spade-train show``: one run, from its settings to what was played."""

from __future__ import annotations

import contextlib
import difflib
import json
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from spade_envs.errors import UsageError
from spade_train.cli.words import Parser
from spade_train.display import summary
from spade_train.diversity import Diversity
from spade_train.runs.folder import RunFolder
from spade_train.runs.results import backend_told
from spade_train.runs.views import admitted, changed, records, rounds, sample, settings, view_run

_TEXT = 600
"""The most characters of an episode's prompt (its end) and of its replies (their beginning) that are shown."""


def run(words: list[str], console: Console) -> None:
    """Print what is known of a run."""
    said = _parser().parse_args(words)
    folder = RunFolder.open(said.run)
    _check_env(folder, said.env)
    if said.json:
        print(json.dumps(_data(folder, said), indent=2))
        return
    _print_head(folder, console)
    if entries := rounds(folder):
        console.print()
        console.print(summary(entries))
        if told := backend_told(entries):
            console.print(f"designer: {told}")
    _print_list("diversity of the designs", [line for one in entries if (line := _diversity(one))], console)
    _print_list("environments admitted", admitted(folder), console)
    _print_list("alarms", [line for one in entries for line in _alarms(one)], console)
    _print_list("faults", [_fault(one) for one in records(folder, "faults")], console)
    for plain, hinted in sample(folder, said.env)[: max(0, said.episodes)]:
        console.print()
        console.print(_side_by_side(plain, hinted))


def _check_env(folder: RunFolder, env_id: str | None) -> None:
    """Raise :class:`UsageError` for an environment that the run has not played; name the nearest."""
    played = dict.fromkeys(str(one.get("env_id")) for one in records(folder, "episodes"))
    if env_id is None or env_id in played:
        return
    near = difflib.get_close_matches(env_id, played, n=1)
    mend = f"Did you mean {near[0]!r}?" if near else f"It has: {', '.join(map(repr, played)) or 'none yet'}."
    raise UsageError(f"{folder.path} has no episode of {env_id!r}. {mend}")


def _data(folder: RunFolder, said: Any) -> dict[str, Any]:
    return {
        **view_run(folder).as_dict(),
        "preset": settings(folder).get("preset"),
        "changed": {
            name: {"value": now, "preset": before} for name, (now, before) in changed(folder).items()
        },
        "versions": settings(folder).get("versions"),
        "rounds": rounds(folder),
        "admitted": admitted(folder),
        "faults": records(folder, "faults"),
        "episodes": [
            {"plain": plain, "hinted": hinted}
            for plain, hinted in sample(folder, said.env)[: max(0, said.episodes)]
        ],
    }


def _print_head(folder: RunFolder, console: Console) -> None:
    one = view_run(folder)
    planned = "?" if one.planned is None else one.planned
    console.print(
        f"{one.path}: {one.state}, {one.done} of {planned} rounds, {one.megabytes:.1f} MB", markup=False
    )
    console.print(f"model   {one.model}", markup=False)
    console.print(f"preset  {settings(folder).get('preset', '?')}", markup=False)
    for name, (now, before) in changed(folder).items():
        console.print(
            f"        {name}: {now}" + (f" (there {before})" if before is not None else ""), markup=False
        )


def _print_list(title: str, lines: list[str], console: Console) -> None:
    if lines:
        console.print(f"\n{title}: {len(lines)}")
        for line in lines:
            console.print(f"  {line}", markup=False)


def _diversity(entry: dict[str, Any]) -> str | None:
    """Return how various a round's designs were; None where none was made, or an earlier version wrote the entry."""
    with contextlib.suppress(TypeError, ValueError):
        one = Diversity(**entry["diversity"]) if entry.get("diversity") else Diversity()
        return f"round {entry['round'] + 1}: {one.text()}" if one.designs else None
    return None


def _alarms(entry: dict[str, Any]) -> list[str]:
    """Return what the monitors said in a round."""
    said = entry.get("alarms")
    return [f"round {entry['round'] + 1}: {one}" for one in said] if isinstance(said, list) else []


def _fault(fault: dict[str, Any]) -> str:
    number = fault.get("round")
    place = f"round {number + 1}" if isinstance(number, int) else "some round"
    return f"{place}: {fault.get('kind')}: {fault.get('error')}"


def _side_by_side(plain: dict[str, Any], hinted: dict[str, Any]) -> Table:
    table = Table(
        title=f"{plain.get('env_id')}, seed {plain.get('seed')}", title_justify="left", show_lines=True
    )
    for title, one in (("without the hint", plain), ("with the hint", hinted)):
        won = "success" if one.get("success") else "no success"
        table.add_column(f"{title}: {won}, return {one.get('return')}", ratio=1, overflow="fold")
    for part, cut in (("prompt", slice(-_TEXT, None)), ("completion", slice(_TEXT))):
        table.add_row(*(_plain(one, part, cut) for one in (plain, hinted)))
    return table


def _plain(one: dict[str, Any], part: str, cut: slice) -> Text:
    text = str(one.get(part, ""))
    shown = text[cut]
    if len(shown) < len(text):
        shown = f"... {shown}" if cut.start else f"{shown} ..."
    return Text(shown)


def _parser() -> Parser:
    parser = Parser(
        "show",
        "Show one run: settings that its flags changed, its rounds, how various its designs were, admitted "
        "environments, alarms, faults, and episodes without and with the hint side by side.",
        "spade-train show runs/mine",
        "spade-train show runs/mine --episodes 3 --env spade/WordSorter-v0",
        "spade-train show runs/mine --json",
    )
    parser.add_argument("run", type=Path, metavar="RUN", help="the run's folder")
    parser.add_argument("--episodes", type=int, default=1, metavar="N", help="pairs of episodes (default: 1)")
    parser.add_argument("--env", metavar="ID", help="only episodes of this environment")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser
