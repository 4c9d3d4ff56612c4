"""What a person is told when a run has ended."""

from __future__ import annotations

import json
import shlex
import sys
from typing import Any

from rich.console import Console

from spade_train.backends import Spent
from spade_train.display import summary
from spade_train.runs.folder import RunFolder


def print_results(run: RunFolder, entries: list[dict[str, Any]], seconds: float, console: Console) -> None:
    """Print the rounds' table, where everything lies, and a line that makes a new environment."""
    console.print(summary(entries))
    made = list(dict.fromkeys(env_id for entry in entries for env_id in entry["admitted"]))
    console.print(f"checkpoint    {run.checkpoint}")
    console.print(f"records       {run.path / 'rounds.jsonl'} (and designs, plays, episodes)")
    console.print(f"environments  {run.registry}: {len(made)} new")
    console.print(f"time          {seconds / 60:.1f} minutes")
    if said := backend_told(entries):
        console.print(f"designer      {said}")
    if skipped := [str(entry["round"] + 1) for entry in entries if entry.get("skipped")]:
        console.print(f"skipped       round {', '.join(skipped)}; faults.jsonl says why")
    if not made:
        if any(entry["designs"] for entry in entries):
            console.print("No design was admitted; designs.jsonl says why.")
        return
    code = (
        f"import gymnasium, spade_envs; spade_envs.add_registry({json.dumps(str(run.registry.resolve()))}); "
        f"print(gymnasium.make({json.dumps(made[-1])}).reset(seed=0))"
    )
    console.print("make one of them:")
    console.print(f"{shlex.quote(sys.executable)} -c {shlex.quote(code)}", markup=False)


def backend_told(entries: list[dict[str, Any]]) -> str:
    """What a designer outside has read and written, and what that cost; nothing where there was none."""
    parts = [Spent(**entry["backend"]) for entry in entries if entry.get("backend")]  # older runs have none
    spent = sum(parts, Spent())
    if not spent.asks:
        return ""
    cost = "" if spent.cost is None else f", cost {spent.cost:.4f}"
    vain = (
        f"; {spent.failed} of {spent.asks} asks got no reply, designs.jsonl says why" if spent.failed else ""
    )
    return f"{spent.prompt_tokens:,} tokens read, {spent.completion_tokens:,} written{cost}{vain}"
