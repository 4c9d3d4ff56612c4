"""What a small model is asked to let an answer be: whole descriptions, and others put together of parts."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a calculation, in words and as code."""

    text: str
    code: str


@dataclass(frozen=True, slots=True)
class Calculation:
    """What an answer is to be.

    Attributes:
        text: in words.
        code: the lines that calculate it from a list that is drawn.
    """

    text: str
    code: str


@dataclass(frozen=True, slots=True)
class Calculations:
    """Everything that may be asked for.

    Attributes:
        whole: whole descriptions.
        many: of how many numbers others are made.
        what: what is made of some of them.
        which: of which.
    """

    whole: tuple[str, ...]
    many: tuple[str, ...]
    what: tuple[Piece, ...]
    which: tuple[Piece, ...]

    def drawn(self, rng: Random) -> str:
        """Return a description by lot: half of the time a whole one."""
        if rng.random() < 0.5:
            return rng.choice(self.whole)
        those = f"those of {rng.choice(self.many)} {rng.choice(self.which).text}"
        return rng.choice(self.what).text.replace("{those}", those)

    def of_list(self, rng: Random, numbers: str) -> Calculation:
        """Return by lot what is made of a list of numbers, which an expression gives."""
        which, what = rng.choice(self.which), rng.choice(self.what)
        name = numbers if numbers.isidentifier() else "numbers"
        first = [] if name == numbers else [f"{name} = {numbers}"]
        code = "\n".join([*first, which.code, f"self._answer = {what.code}"]).replace("{n}", name)
        return Calculation(what.text.replace("{those}", f"those of `{name}` {which.text}"), code)


@cache
def calculations() -> Calculations:
    """Return what may be asked for."""
    path = Path(__file__).parent / "texts" / "calculations.toml"
    read = tomllib.loads(path.read_text("utf-8"))
    what, which = (tuple(Piece(**piece) for piece in read[name]) for name in ("what", "which"))
    return Calculations(tuple(read["whole"]), tuple(read["many"]), what, which)
