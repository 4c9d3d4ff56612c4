"""Templates: everything that is put into one is text, whoever wrote it, and can be seen."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from spade_envs.contract.printable import printable
from spade_envs.web import words

SORTS = {
    "name": "name",
    "newest": "newest first",
    "difficulty": "hardest first",
    "regret": "largest regret first",
    "success": "largest success first",
    "diversity": "most unlike others first",
    "round": "last round first",
}
_OWN = Path(__file__).parent / "templates"


def environment(folders: Iterable[Path]) -> Environment:
    """Return what renders templates: this package's, then those of other folders."""
    made = Environment(
        loader=ChoiceLoader([FileSystemLoader(folder) for folder in (_OWN, *folders)]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=visible,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= {name: getattr(words, name) for name in words.__all__}
    made.globals["sorts"] = SORTS
    return made


def visible(value: Any) -> Any:
    """Return what a template shows: of a text, what cannot be seen, turns the reading direction or cannot be encoded
    is escaped; lines stay.
    """
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return value if value.isprintable() else printable(value, keep="\n\t")
