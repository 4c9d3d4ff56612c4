"""Builds the tables of ``docs/reference/spade-train.md`` from the code. ``make docs`` runs it.

Each stands between two marks; what is written around them is kept.
"""

from __future__ import annotations

import re
import typing
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from spade_train.config import SelfPlayConfig
from spade_train.fixed import FIXED
from spade_train.presets import FOLDER, preset_names

PAGE = Path(__file__).parent / "reference" / "spade-train.md"


def settings() -> Iterator[str]:
    """Yield the trainer's own settings: name, kind, default, help."""
    yield "| setting | takes | default | |"
    yield "| --- | --- | --- | --- |"
    kinds, defaults = typing.get_type_hints(SelfPlayConfig), SelfPlayConfig()
    for item in fields(SelfPlayConfig):
        default = getattr(defaults, item.name)
        shown = "" if default in (None, []) else f"`{_text(default)}`"
        yield f"| `{item.name}` | {_kind(kinds[item.name])} | {shown} | {item.metadata['help']} |"


def fixed() -> Iterator[str]:
    """Yield what self-play decides, with the reason."""
    yield "| TRL's setting | why it is refused |"
    yield "| --- | --- |"
    for reason, names in FIXED:
        yield f"| {', '.join(f'`{name}`' for name in names)} | It {reason}. |"


def presets() -> Iterator[str]:
    """Yield the presets: the first lines of their files."""
    yield "| preset | | extends | run on |"
    yield "| --- | --- | --- | --- |"
    for name in preset_names():
        text = (FOLDER / f"{name}.yaml").read_text("utf-8")
        comment = " ".join(line[2:] for line in text.splitlines() if line.startswith("# "))
        about, _, rest = comment.partition(" For: ")
        base = re.search(r"^extends: (\S+)", text, re.MULTILINE)
        extends = f"`{base[1]}`" if base else ""
        run_on = rest.partition("Run on: ")[2]
        yield f"| `{name}` | {about} | {extends} | {run_on[0].upper()}{run_on[1:]} |"


TABLES: dict[str, Callable[[], Iterator[str]]] = {"settings": settings, "fixed": fixed, "presets": presets}


def page() -> str:
    """Return the page with tables as the code is now."""
    text = PAGE.read_text("utf-8")
    for name, table in TABLES.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, _, rest = text.partition(begin)
        text = before + begin + "\n".join(table()) + "\n" + end + rest.partition(end)[2]
    return text


def _kind(hint: Any) -> str:
    """Say what a setting takes."""
    arguments = [one for one in typing.get_args(hint) if one is not type(None)]
    if typing.get_origin(hint) is typing.Literal:
        return ", ".join(f"`{one}`" for one in arguments)
    if typing.get_origin(hint) is list:
        return f"list of {_kind(arguments[0])}s"
    if arguments:
        return _kind(arguments[0])
    return {"str": "text", "int": "whole number", "float": "number", "bool": "true, false"}[hint.__name__]


def _text(value: Any) -> str:
    return (
        " ".join(value)
        if isinstance(value, list)
        else str(value).lower()
        if isinstance(value, bool)
        else str(value)
    )


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
