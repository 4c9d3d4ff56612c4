"""The ``spade-train`` command: one module for each kind of subcommand, one place for exit codes."""

from spade_train.cli.app import main

__all__ = ["main"]
