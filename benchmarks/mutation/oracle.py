"""What an oracle is: a proof, by play or by reading, that one clause of the contract is broken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mutation.playing import Trial


@dataclass(frozen=True, slots=True)
class Oracle:
    """A way to prove that a clause is broken.

    Attributes:
        name: for tables.
        clause: what the contract says.
        reasons: beginnings of the rules that a gate may rightly name.
        prove: returns the proof in a sentence, or None where it finds nothing.
    """

    name: str
    clause: str
    reasons: frozenset[str]
    prove: Callable[[Trial], str | None]


def oracle(clause: str, *reasons: str) -> Callable[[Callable[[Trial], str | None]], Oracle]:
    """Make an oracle of a function."""
    return lambda prove: Oracle(prove.__name__.replace("_", " "), clause, frozenset(reasons), prove)
