"""``spade-train``: begin a run. Wrong use is told before a model is loaded, and never by a traceback."""

from __future__ import annotations

import os
import warnings

from rich.console import Console

from spade_train.flags import check_names, help_text, read_words


def run(words: list[str], console: Console) -> None:
    """Begin a new run."""
    if {"-h", "--help"} & set(words):
        print(help_text())
        return
    said = read_words([word for word in words if word != "--help_all"])
    console.print(f"spade-train: {said.path.stem}; loading PyTorch and TRL ...")
    set_environment()
    from spade_train import running, trl_plugin

    if "--help_all" in words:
        trl_plugin.parser().print_help()
        return
    check_names(said, trl_plugin.known_settings())
    settings = trl_plugin.settings(said)
    if settings.selfplay.dry_run:
        from spade_train.models.dry_run import dry_run

        dry_run(settings, console)
        return
    running.begin(settings, said, console)


def set_environment() -> None:
    """Set what torch and the hub's client read when they are imported; the user's own values stay."""
    warnings.filterwarnings("ignore", category=FutureWarning)  # between transformers and TRL, not to the user
    for name, value in (
        ("OMP_WAIT_POLICY", "PASSIVE"),  # threads that wait in a loop stall each other on a busy machine
        ("HF_HUB_DISABLE_TELEMETRY", "1"),
        ("TRL_EXPERIMENTAL_SILENCE", "1"),
        ("TRANSFORMERS_VERBOSITY", "error"),
        ("TOKENIZERS_PARALLELISM", "false"),
    ):
        os.environ.setdefault(name, value)
