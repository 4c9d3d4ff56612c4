"""``spade-train resume``: go on with a run after its newest checkpoint."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from spade_train.cli.words import Parser


def run(words: list[str], console: Console) -> None:
    """Go on with a run, with its own settings and those that are said now."""
    said, flags = _parser().parse_known_args(words)
    from spade_train.cli.train import set_environment

    set_environment()
    from spade_train import running

    running.resume(said.run, flags, console)


def _parser() -> Parser:
    parser = Parser(
        "resume",
        "Go on with a run after its newest checkpoint. Settings that are named now win over the run's own.",
        "spade-train resume runs/mine",
        "spade-train resume runs/mine --rounds 20",
    )
    parser.add_argument("run", type=Path, metavar="RUN", help="the run's folder")
    return parser
