"""The ``spade-envs`` command."""

from __future__ import annotations

import sys

from spade_envs.cli.stopping import Terminated, provide

__all__ = ["main"]


def main() -> None:
    """Run the command and end the process. Little is imported before an interrupt is provided for."""
    try:
        provide()
        from spade_envs.cli.app import run

        code = run()
    except KeyboardInterrupt as stop:
        print(stop if isinstance(stop, Terminated) else "stopped", file=sys.stderr)
        code = stop.code if isinstance(stop, Terminated) else 130
    sys.exit(code)
