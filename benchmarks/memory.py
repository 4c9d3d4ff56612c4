"""Prints what ``--dry_run`` estimates beside the memory that the same run takes at the most.

    python benchmarks/memory.py --num_generations 2 --bf16 false

Words are those of ``spade-train``; two rounds, since the optimiser's states are there from the second one on.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from spade_train.cli import main
from spade_train.cli.train import set_environment
from spade_train.runs.folder import RunFolder


def measured(words: list[str]) -> int:
    """Return the most bytes of resident memory of a run's process."""
    with tempfile.TemporaryDirectory() as runs:
        main([*words, "--runs", runs, "--run_name", "measured"])
        last = RunFolder(Path(runs) / "measured").read("rounds.jsonl")[-1]
        return int(last["memory_mb"]["trainer"]) * 2**20


def estimated(words: list[str]) -> int:
    from spade_train import trl_plugin
    from spade_train.flags import read_words
    from spade_train.models.dry_run import estimate

    return estimate(trl_plugin.settings(read_words(words))).peak


if __name__ == "__main__":
    set_environment()
    said = [*sys.argv[1:], "--rounds", "2"]
    took = measured(said)  # first: what an estimate loads is not the run's
    guess = estimated(said)
    print(f"took {took / 1e9:.2f} GB, estimated {guess / 1e9:.2f} GB: {guess / took - 1:+.0%}")
