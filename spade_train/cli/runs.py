"""``spade-train list``: the runs of a folder."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from spade_envs.errors import UsageError
from spade_train.cli.words import Parser
from spade_train.runs.views import RunView, find_runs


def run(words: list[str], console: Console) -> None:
    """Print one line for each run."""
    said = _parser().parse_args(words)
    if not said.folder.is_dir():
        raise UsageError(f"{said.folder}: there is no such folder. Name one that --runs of spade-train made.")
    found = find_runs(said.folder)
    if said.json:
        print(json.dumps([one.as_dict() for one in found], indent=2))
    elif found:
        console.print(_table(found))
    else:
        console.print(
            f"{said.folder} holds no run. spade-train --runs {said.folder} makes one.", markup=False
        )


def _table(found: list[RunView]) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("run", overflow="fold")
    for column in ("rounds", "success", "regret", "new"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("state", no_wrap=True)
    table.add_column("MB", justify="right", no_wrap=True)
    table.add_column("model", overflow="fold")
    for one in found:
        table.add_row(
            escape(one.name),
            f"{one.done}/{'?' if one.planned is None else one.planned}",
            "-" if one.success is None else f"{one.success:.2f}",
            "-" if one.regret is None else f"{one.regret:+.2f}",
            str(one.environments),
            one.state,
            f"{one.megabytes:.1f}",
            escape(one.model),
        )
    return table


def _parser() -> Parser:
    parser = Parser(
        "list",
        "List the runs of a folder: rounds done of those planned, the last round's success and regret, new "
        "environments, state, size, model.",
        "spade-train list",
        "spade-train list runs --json",
    )
    parser.add_argument(
        "folder", type=Path, nargs="?", default=Path("runs"), metavar="FOLDER", help="default: runs"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser
