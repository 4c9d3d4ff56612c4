"""``spade-train saw``: what the designer was told in a round, and why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from spade_envs.contract.printable import printable
from spade_envs.errors import UsageError
from spade_train.cli.words import Parser
from spade_train.runs.folder import RunFolder
from spade_train.runs.views import contexts, records


def run(words: list[str], console: Console) -> None:
    """Print each piece of a prompt with the reason for it, and what became of the designs."""
    said = _parser().parse_args(words)
    folder = RunFolder.open(said.run)
    found = contexts(folder, None if said.round is None else said.round - 1)
    if not found:
        raise UsageError(_nothing(folder, said.round))
    told = [{**one, "designs": _designs(folder, one)} for one in found]
    if said.json:
        print(json.dumps(told, indent=2))
        return
    for one in told:
        _print(one, console)


def _designs(folder: RunFolder, context: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what was made of a prompt."""
    kept = ("slot", "env_id", "refusal", "reward")
    prompt = (context["round"], context.get("prompt_hash"))
    made = [one for one in records(folder, "designs") if (one.get("round"), one.get("prompt_hash")) == prompt]
    return [{name: one.get(name) for name in kept} for one in made]


def _print(one: dict[str, Any], console: Console) -> None:
    process = f", process {one['rank']}" if one.get("rank") else ""
    console.print(
        f"round {one['round'] + 1}{process}: prompt {one.get('prompt_hash')}, {one.get('prompt_tokens')} tokens",
        markup=False,
    )
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for column in ("piece", "what", "why"):
        table.add_column(column, overflow="fold")
    for reason in one["reasons"]:
        table.add_row(*(Text(printable(str(reason[name]))) for name in ("piece", "what", "why")))
    console.print(
        table if one["reasons"] else "The prompt told of nothing: there was no document and no memory."
    )
    for design in one["designs"]:
        became = design["env_id"] or f"refused: {(design['refusal'] or '?').splitlines()[0]}"
        console.print(f"design {design['slot']}: {printable(became)}", markup=False)


def _nothing(folder: RunFolder, round_: int | None) -> str:
    known = sorted(
        {one["round"] + 1 for one in records(folder, "contexts") if isinstance(one.get("round"), int)}
    )
    if not known:
        return f"{folder.path} has no prompts on record: nothing was designed, or an earlier version made the run."
    return f"{folder.path} designed nothing in round {round_}. Name one of {', '.join(map(str, known))}."


def _parser() -> Parser:
    parser = Parser(
        "saw",
        "Show what the designer saw: the document, earlier designs, lessons, the agent's profile and the target skill "
        "of a round's prompt, each with the reason why it was chosen, and what became of the designs. The whole reply "
        "and source of each design stand in designs.jsonl.",
        "spade-train saw runs/mine",
        "spade-train saw runs/mine 4 --json",
    )
    parser.add_argument("run", type=Path, metavar="RUN", help="the run's folder")
    parser.add_argument(
        "round", type=int, nargs="?", metavar="ROUND", help="default: the last one that designed"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser
