"""``spade-train resume``: go on with a run after its newest checkpoint."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from spade_train.cli.words import Parser


def run(words: list[str], console: Console) -> None:
    """Go on with a run, with its own settings and those that are said now."""
    said, flags = _parser().parse_known_args(words)
    from spade_train.cli.train import carry_on, set_environment

    set_environment()
    from spade_train import trl_plugin
    from spade_train.checkpoints import checkpoint_at
    from spade_train.flags import Words, check_names
    from spade_train.run_folder import RunFolder

    folder = RunFolder.open(said.run)
    kept = folder.config()
    now = Words(folder.path / "config.json", kept["preset_settings"], (*kept["flags"], *flags))
    check_names(now, trl_plugin.known_settings())
    settings = trl_plugin.settings(now)
    checkpoint = checkpoint_at(folder)
    console.print(f"going on after round {checkpoint.round if checkpoint else 0}")
    carry_on(settings, folder, kept["model"], kept["curriculum"], console, checkpoint)


def _parser() -> Parser:
    parser = Parser(
        "resume",
        "Go on with a run after its newest checkpoint. Settings that are named now win over the run's own.",
        "spade-train resume runs/mine",
        "spade-train resume runs/mine --rounds 20",
    )
    parser.add_argument("run", type=Path, metavar="RUN", help="the run's folder")
    return parser
