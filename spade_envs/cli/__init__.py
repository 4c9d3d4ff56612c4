"""The ``spade-envs`` command."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command and end the process. Nothing is imported before an interrupt is provided for."""
    try:
        from spade_envs.cli.app import run

        code = run()
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        code = 130
    sys.exit(code)
