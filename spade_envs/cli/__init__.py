"""The ``spade-envs`` command."""

from __future__ import annotations

import sys
import warnings
from typing import TextIO

from spade_envs.cli.stopping import Terminated, provide

__all__ = ["main"]


def main() -> None:
    """Run the command and end the process. Little is imported before an interrupt is provided for."""
    try:
        provide()
        from spade_envs.cli.app import run

        warnings.showwarning = _show
        code = run()
    except KeyboardInterrupt as stop:
        print(stop if isinstance(stop, Terminated) else "stopped", file=sys.stderr)
        code = stop.code if isinstance(stop, Terminated) else 130
    sys.exit(code)


def _show(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Show what is wrong with a file of a registry as a remark: where in this program it was seen helps nobody."""
    from spade_envs.cli.output import remark
    from spade_envs.registry.versions import RegistryWarning

    if issubclass(category, RegistryWarning):
        remark(f"spade-envs: {message}")
    else:
        print(warnings.formatwarning(message, category, filename, lineno, line), file=file or sys.stderr)
