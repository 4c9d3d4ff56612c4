"""The ``spade-envs`` command."""

from spade_envs.cli.app import main, run

__all__ = ["main", "run"]
