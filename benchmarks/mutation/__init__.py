"""A mutation engine for environments: it breaks seeds in known ways and proves that they are broken."""

from __future__ import annotations

from mutation import classical, determinism, form, levels, rewards, runs, short_cuts, solvable
from mutation.design import Design
from mutation.operator import Operator

OPERATORS: tuple[Operator, ...] = (
    *form.OPERATORS,
    *runs.OPERATORS,
    *determinism.OPERATORS,
    *solvable.OPERATORS,
    *rewards.OPERATORS,
    *short_cuts.OPERATORS,
    *levels.OPERATORS,
    *classical.OPERATORS,
)

__all__ = ["OPERATORS", "Design", "Operator"]
