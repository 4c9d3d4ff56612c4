"""What stands in a design's syntax tree: its class and that class's methods."""

from __future__ import annotations

import ast


def parsed(source: str) -> ast.Module | None:
    """Return a source's syntax tree, None where it does not parse."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def class_of(tree: ast.Module) -> ast.ClassDef | None:
    """Return the environment's class: the last one that has ``reset``."""
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    return next((one for one in reversed(classes) if "reset" in methods_of(one)), None)


def methods_of(owner: ast.ClassDef) -> dict[str, ast.FunctionDef]:
    """Return a class's own methods by name."""
    return {node.name: node for node in owner.body if isinstance(node, ast.FunctionDef)}
