"""``spade-train rollback``: put a run back to where it stood after an earlier round."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from spade_train.cli.words import Parser


def run(words: list[str], console: Console) -> None:
    """Put everything of a run to where it stood; ``spade-train resume`` goes on from there."""
    said = _parser().parse_args(words)
    from spade_train.checkpoints import checkpoint_at, restore
    from spade_train.run_folder import RunFolder

    folder = RunFolder.open(said.run)
    checkpoint = checkpoint_at(folder, said.round) if said.round else None
    with folder.locked():
        restore(folder, checkpoint)
    console.print(
        f"{folder.path} stands after round {said.round}. Go on with: spade-train resume {folder.path}"
    )


def _parser() -> Parser:
    parser = Parser(
        "rollback",
        "Put a run back to where it stood after an earlier round: weights, memory, environments, records.",
        "spade-train rollback runs/mine 4",
    )
    parser.add_argument("run", type=Path, metavar="RUN", help="the run's folder")
    parser.add_argument("round", type=int, metavar="ROUND", help="how many rounds are kept; 0 keeps none")
    return parser
