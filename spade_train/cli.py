"""The ``spade-train`` command. Wrong use is told before a model is loaded, and never by a traceback."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from spade_envs.errors import SpadeError, UsageError
from spade_train.flags import check_names, help_text, read_words


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and leave with its exit code: 0 done, 1 failed, 2 wrong use, 130 interrupted."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    console = Console(highlight=False, soft_wrap=True)
    try:
        _run(words, console)
    except SpadeError as problem:
        print(f"spade-train: {problem}", file=sys.stderr)
        sys.exit(2 if isinstance(problem, UsageError) else 1)
    except KeyboardInterrupt:
        console.print(
            "\nStopped. What was admitted and recorded stays in the run's folder; `spade-train resume RUN` goes on."
        )
        sys.exit(130)


def _run(words: list[str], console: Console) -> None:
    if {"-h", "--help"} & set(words):
        print(help_text())
        return
    if words[:1] == ["resume"]:
        _set_environment()
        from spade_train import running

        running.resume(Path(words[1]), words[2:], console)
        return
    said = read_words([word for word in words if word != "--help_all"])
    console.print(f"spade-train: {said.path.stem}; loading PyTorch and TRL ...")
    _set_environment()
    from spade_train import running, trl_plugin

    if "--help_all" in words:
        trl_plugin.parser().print_help()
        return
    check_names(said, trl_plugin.known_settings())
    running.begin(trl_plugin.settings(said), said, console)


def _set_environment() -> None:
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
