"""The texts of the folder ``texts``: every word that a designer reads."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def text(name: str) -> str:
    """Return a text of the folder ``texts``, without its last line end."""
    return (Path(__file__).parent / "texts" / f"{name}.md").read_text("utf-8").strip()
