"""What a mutation operator is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mutation.design import Design
from mutation.oracle import Oracle

Mutate = Callable[[Design], Iterator[Design]]


@dataclass(frozen=True, slots=True)
class Operator:
    """A way to break a design.

    Attributes:
        name: for tables, unique.
        family: the part of the contract that it aims at.
        oracles: each can prove that a mutant is broken in the way that is meant.
        mutate: yields the mutants of a design, each with one change; none where it does not apply.
    """

    name: str
    family: str
    oracles: tuple[Oracle, ...]
    mutate: Mutate

    @property
    def clause(self) -> str:
        """What the contract says and the mutants break."""
        return "; or: ".join(oracle.clause for oracle in self.oracles)

    @property
    def reasons(self) -> frozenset[str]:
        """Beginnings of the rules that a gate may rightly name."""
        return frozenset().union(*(oracle.reasons for oracle in self.oracles))


def family(name: str, into: list[Operator]) -> Callable[..., Callable[[Mutate], Mutate]]:
    """Return a decorator that makes operators of functions, named as the functions are."""

    def operator(*oracles: Oracle) -> Callable[[Mutate], Mutate]:
        def register(mutate: Mutate) -> Mutate:
            into.append(Operator(mutate.__name__.replace("_", " "), name, oracles, mutate))
            return mutate

        return register

    return operator
