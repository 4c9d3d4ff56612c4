"""Exit codes and the consoles that all subcommands write to."""

from __future__ import annotations

import json
from typing import Any

from rich.console import Console

DONE, REFUSED, CANNOT_RUN, WRONG_USE, STOPPED = 0, 1, 2, 3, 130


def out() -> Console:
    """Return the console of results: no colours where ``NO_COLOR`` is set or it is no terminal."""
    return Console(highlight=False, soft_wrap=False)


def err() -> Console:
    """Return the console of progress and remarks."""
    return Console(stderr=True, highlight=False)


def print_json(data: Any) -> None:
    """Print data as JSON, one document."""
    print(json.dumps(data, indent=2, ensure_ascii=False))
