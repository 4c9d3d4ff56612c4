"""The texts of the folder ``texts``: every word that a designer reads."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random


@cache
def text(name: str) -> str:
    """Return a text of the folder ``texts``, without its last line end."""
    return (Path(__file__).parent / "texts" / f"{name}.md").read_text("utf-8").strip()


@dataclass(frozen=True, slots=True)
class Calculations:
    """What a small model may be asked to let an answer be.

    Attributes:
        whole: whole ones.
        what, many, which: parts of others: what is made of those of so many numbers which are of a kind.
    """

    whole: tuple[str, ...]
    what: tuple[str, ...]
    many: tuple[str, ...]
    which: tuple[str, ...]

    def drawn(self, rng: Random) -> str:
        """Return one by lot: half of the time a whole one."""
        if rng.random() < 0.5:
            return rng.choice(self.whole)
        those = f"those of {rng.choice(self.many)} {rng.choice(self.which)}"
        return rng.choice(self.what).replace("{those}", those)


@cache
def calculations() -> Calculations:
    """Return what may be asked for."""
    path = Path(__file__).parent / "texts" / "calculations.toml"
    return Calculations(
        **{name: tuple(parts) for name, parts in tomllib.loads(path.read_text("utf-8")).items()}
    )
