"""Templates: everything that is put into one is text, whoever wrote it, and can be seen."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import lru_cache
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
PARTS = 4_096
"""How many parts of pages are remembered: a card of the index has about a kilobyte, and its value as much."""
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
    made.globals |= {"sorts": SORTS, "part": _parts(made)}
    return made


def _parts(templates: Environment) -> Callable[[str, Hashable], Markup]:
    """Return what renders a part of a page by the macro ``part`` of a template, or remembers it; threads may share it.

    Such a macro knows nothing but its value: so what is equal looks equal, and nothing remembered gets old.
    """

    @lru_cache(maxsize=PARTS)
    def part(template: str, value: Hashable) -> Markup:
        made: Markup = templates.get_template(template).module.part(value)  # type: ignore[attr-defined]
        return made

    return part


def visible(value: Any) -> Any:
    """Return what a template shows: of a text, what cannot be seen, turns the reading direction or cannot be encoded
    is escaped; lines stay.
    """
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return value if value.isprintable() else printable(value, keep="\n\t")
