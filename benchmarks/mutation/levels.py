"""Operators on the order of the difficulty levels."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from mutation.design import Design, prepended, variants
from mutation.operator import Operator, family
from mutation.oracles_play import something_raises
from mutation.oracles_task import a_higher_level_is_easier

OPERATORS: list[Operator] = []
operator = family("difficulty", OPERATORS)


@operator(a_higher_level_is_easier)
def level_order_reversed(design: Design) -> Iterator[Design]:
    line = f"difficulty = {design.level_count + 1} - difficulty"
    yield from prepended(design, "__init__", line)


@operator(a_higher_level_is_easier)
def last_level_is_the_first(design: Design) -> Iterator[Design]:
    """Swap the outer levels, or turn them by one place."""
    count = design.level_count
    for line in (
        f"difficulty = {{1: {count}, {count}: 1}}.get(difficulty, difficulty)",
        f"difficulty = difficulty % {count} + 1",
    ):
        yield from prepended(design, "__init__", line)


@operator(a_higher_level_is_easier)
def one_table_of_levels_reversed(design: Design) -> Iterator[Design]:
    def change(node: ast.AST) -> Iterator[ast.AST]:
        if isinstance(node, ast.Subscript) and ast.unparse(node.slice) == "difficulty - 1":
            yield ast.Subscript(node.value, ast.parse("-difficulty", mode="eval").body, node.ctx)
        elif isinstance(node, ast.Name) and node.id == "difficulty" and isinstance(node.ctx, ast.Load):
            yield ast.parse(f"{design.level_count + 1} - difficulty", mode="eval").body

    yield from variants(design, change, lambda name: name == "__init__")


@operator(something_raises)
def level_without_an_entry(design: Design) -> Iterator[Design]:
    def change(node: ast.AST) -> Iterator[ast.AST]:
        if isinstance(node, ast.Subscript) and ast.unparse(node.slice) == "difficulty - 1":
            yield ast.Subscript(node.value, ast.parse("difficulty", mode="eval").body, node.ctx)

    yield from variants(design, change, lambda name: name == "__init__")
