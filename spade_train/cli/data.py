"""``spade-train data``: a run's plays as a data set for other trainers."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Console

from spade_train.cli.words import Parser


def run(words: list[str], console: Console) -> None:
    """Write the data set; say what it holds and what was left out."""
    said = _parser().parse_args(words)
    from spade_train.cli.train import set_environment
    from spade_train.runs.folder import RunFolder

    set_environment()
    from spade_train.transcripts.exporting import export

    done = export(RunFolder.open(said.run), said.kind, said.out)
    if said.json:
        print(json.dumps({"file": str(said.out), "kind": said.kind, **vars(done)}, indent=2))
        return
    console.print(f"{said.out}: {done.rows} rows of {done.environments} environments", markup=False)
    for why, count in done.left_out.items():
        console.print(f"left out: {count}: {why}", markup=False)


def _parser() -> Parser:
    parser = Parser(
        "data",
        "Write a run's plays as JSON lines that TRL's trainers take: successful ones as conversations (sft), or "
        "successes and failures of the same start as pairs (preference). Each play is made again from what the agent "
        "said, so the run's environments must be there.",
        "spade-train data runs/mine --kind sft --out sft.jsonl",
        "spade-train data runs/mine --kind preference --out pairs.jsonl",
    )
    parser.add_argument("run", type=Path, metavar="RUN", help="the run's folder")
    parser.add_argument("--kind", choices=["sft", "preference"], required=True, help="what rows hold")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the file that is written")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser
