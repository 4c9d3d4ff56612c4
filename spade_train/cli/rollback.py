"""``spade-train rollback``: put a run back to where it stood after an earlier round."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from spade_train.cli.words import Parser


def run(words: list[str], console: Console) -> None:
    """Put a run, or parts of it, to where it stood; ``spade-train resume`` goes on from there."""
    said = _parser().parse_args(words)
    from spade_train.runs.folder import RunFolder
    from spade_train.runs.rollback import PARTS, roll_back

    folder = RunFolder.open(said.run)
    done = roll_back(folder, said.round, said.only or PARTS)
    console.print(f"{', '.join(done.parts)}: as after round {said.round}")
    for path in done.withdrawn:
        console.print(f"withdrawn: {path}", markup=False)
    console.print(f"to go on after round {done.round}: spade-train resume {folder.path}", markup=False)


def _parser() -> Parser:
    parser = Parser(
        "rollback",
        "Put a run back to where it stood after an earlier round, whole or in parts. The memory is what the "
        "designer's prompts tell; the pool are the environments that the run has admitted. Nothing of the pool "
        "is deleted: it moves to the run's folder withdrawn/.",
        "spade-train rollback runs/mine 4",
        "spade-train rollback runs/mine 4 --only memory pool",
    )
    parser.add_argument("run", type=Path, metavar="RUN", help="the run's folder")
    parser.add_argument("round", type=int, metavar="ROUND", help="how many rounds are kept")
    parser.add_argument(
        "--only", nargs="+", choices=["weights", "memory", "pool", "records"], help="parts (default: all)"
    )
    return parser
