"""Changes of a source at places of its syntax tree: what mends are made of."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from spade_train.designer.syntax import class_of, methods_of


@dataclass(frozen=True, slots=True)
class Change:
    """Bytes from ``start`` to ``end`` become ``text``."""

    start: int
    end: int
    text: str


Place = ast.expr | ast.stmt | ast.keyword


class Code:
    """A source that parses, with the places of its nodes in bytes."""

    def __init__(self, source: str) -> None:
        self.tree, self.data = ast.parse(source), source.encode()
        self._starts = [0, *(found.end() for found in re.finditer(rb"\n", self.data))]
        self.owner = class_of(self.tree)
        self.methods = methods_of(self.owner) if self.owner else {}

    def start(self, node: Place) -> int:
        """Return the byte at which a node begins."""
        return self._starts[node.lineno - 1] + node.col_offset

    def end(self, node: Place) -> int:
        """Return the byte after a node."""
        return self._starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)

    def insert(self, node: ast.stmt, text: str) -> Change:
        """Put a line before a statement, as deep as it."""
        at = self.start(node)
        return Change(at, at, f"{text}\n{' ' * node.col_offset}")


Mend = Callable[[Code], Iterator[Change]]
"""Yields what it would change."""


def is_super_reset(node: ast.AST) -> bool:
    """Say whether a node is ``super().reset``, or another call's."""
    return isinstance(node, ast.Attribute) and node.attr == "reset" and isinstance(node.value, ast.Call)
