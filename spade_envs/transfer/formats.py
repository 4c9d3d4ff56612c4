"""Which format a path stands for."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from spade_envs.contract.printable import printable
from spade_envs.errors import UsageError

Format = Literal["folder", "zip", "wheel", "jsonl"]
ENDINGS: dict[str, Format] = {".zip": "zip", ".whl": "wheel", ".jsonl": "jsonl"}


def guessed(destination: Path) -> Format:
    """Return the format that a destination's ending stands for; a folder where it has none of them."""
    return ENDINGS.get(destination.suffix.lower(), "folder")


def found(source: Path) -> Format:
    """Return the format of what there is.

    Raises:
        UsageError: there is nothing, or a file of another kind.
    """
    name = printable(str(source))
    if source.is_dir():
        return "folder"
    if not source.exists():
        raise UsageError(f"{name} does not exist; check the spelling")
    if not source.is_file() or source.suffix.lower() not in ENDINGS:
        raise UsageError(
            f"{name} is no folder and ends with none of {', '.join(ENDINGS)};"
            " a design by itself is for `spade-envs admit`"
        )
    return ENDINGS[source.suffix.lower()]
