"""A run's plays as a file of rows."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spade_envs import add_registry, make_text
from spade_envs.errors import UsageError
from spade_train.models.sketch import read_sketch
from spade_train.runs.folder import RunFolder
from spade_train.runs.views import records
from spade_train.transcripts.kinds import Kind, pairs, preference_rows, sft_rows, successes
from spade_train.transcripts.replaying import Replayer, read_plays


@dataclass(frozen=True)
class Exported:
    """What was written, and why -> how many plays were left out."""

    rows: int
    environments: int
    left_out: dict[str, int]


def export(run: RunFolder, kind: Kind, out: Path) -> Exported:
    """Write a run's plays as JSON lines, whole or not at all.

    Raises:
        UsageError: the run has nothing of this kind, its model is gone, or the file cannot be written.
    """
    config = run.config()
    plays = read_plays(records(run, "plays"))
    wanted = pairs(plays) if kind == "preference" else []
    chosen = [one for pair in wanted for one in pair] if kind == "preference" else successes(plays)
    if not chosen:
        raise UsageError(f"{run.path} has {_lack(kind, bool(plays))}.")
    add_registry(run.registry)
    sketch = read_sketch(config["model"])
    action_format = config.get("selfplay", {}).get("action_format", "xml")

    def make(env_id: str, **arguments: Any) -> Any:
        return make_text(env_id, action_format=action_format, **arguments)

    replayer = Replayer(make, sketch.chat)
    transcripts = replayer.transcripts(chosen)
    rows = preference_rows(wanted, transcripts) if kind == "preference" else sft_rows(transcripts)
    if not rows:
        raise UsageError(f"{run.path}: no play could be made again: {replayer.left_out}")
    _write(out, rows)
    return Exported(len(rows), len({row["env_id"] for row in rows}), replayer.left_out)


def _lack(kind: Kind, played: bool) -> str:
    if not played:
        return "no play with the agent's words on record; runs of earlier versions kept none"
    return "no start with a success and a failure" if kind == "preference" else "no successful play yet"


def _write(out: Path, rows: Sequence[dict[str, Any]]) -> None:
    scratch = out.with_name(f".{out.name}.partial")
    try:
        scratch.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
        os.replace(scratch, out)
    except OSError as problem:
        raise UsageError(f"--out {out}: cannot be written ({problem.strerror}).") from problem
