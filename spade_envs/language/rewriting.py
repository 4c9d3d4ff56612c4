"""Pieces of syntax tree that the policy puts in place of others. Guards' names begin with ``$``.

No source can write such a name, so no parameter, import or assignment can shadow a guard.
"""

from __future__ import annotations

import ast
import re
from typing import TypeVar

_Node = TypeVar("_Node", bound=ast.AST)

OWN, STORE, ATTRIBUTE, IMPORT, EXCEPTION = "$own", "$store", "$attribute", "$import", "$Exception"
ANY, CLASS_VAR, INIT_VAR, KW_ONLY = "$Any", "$ClassVar", "$InitVar", "$KW_ONLY"

_FIELD_MARKS = {"ClassVar": CLASS_VAR, "InitVar": INIT_VAR, "KW_ONLY": KW_ONLY}
_TYPE_NODES = (
    *(ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Tuple, ast.List, ast.BinOp, ast.BitOr),
    *(ast.UnaryOp, ast.USub, ast.Load),
)
# A field that reads an attribute has a dot between brace and colon; with brackets it is not so simple.
_MAY_READ_ATTRIBUTE = re.compile(r"\[|\{[^{}:!]*\.")


def without_main_block(module: ast.Module) -> ast.Module:
    """Drop what stands under `if __name__ == "__main__":`, which never runs."""
    return ast.Module([part for node in module.body for part in _running(node)], module.type_ignores)


def _running(node: ast.stmt) -> list[ast.stmt]:
    match node:
        case ast.If(test=ast.Compare(left=left, ops=[ast.Eq()], comparators=[right])):
            sides = {getattr(side, "id", getattr(side, "value", None)) for side in (left, right)}
            return node.orelse if sides == {"__name__", "__main__"} else [node]
    return [node]


def import_as(name: str, path: str, place: ast.stmt | ast.Module) -> ast.stmt:
    """Return `name = $import("path")`, at the place of another statement."""
    value = ast.Call(ast.Name(IMPORT, ast.Load()), [ast.Constant(path)], [])
    return _placed(ast.Assign([ast.Name(name, ast.Store())], value), place)


def check_owner(node: ast.Attribute) -> ast.Attribute:
    """Turn `owner.name` into `$own(owner, "name").name`, in any context."""
    node.value = _call(OWN, node.value, node.attr)
    return node


def check_store(node: ast.Attribute) -> ast.Attribute:
    """Turn the target `owner.name` into `$store(owner, "name").name`."""
    node.value = _call(STORE, node.value, node.attr)
    return node


def guarded_attribute(node: ast.Attribute) -> ast.Call:
    """Return `$attribute(owner, "name")` for `owner.name`."""
    return _call(ATTRIBUTE, node.value, node.attr)


def _call(guard: str, owner: ast.expr, name: str) -> ast.Call:
    guard_name, constant = ast.Name(guard, ast.Load()), ast.Constant(name)
    call = ast.Call(guard_name, [owner, constant], [])
    for new in (guard_name, constant, call):
        ast.copy_location(new, owner)
    return call


def _placed(node: _Node, place: ast.AST) -> _Node:
    """Give a new node, with all that it consists of, the place of another."""
    line, column = getattr(place, "lineno", 1), getattr(place, "col_offset", 0)
    for new in ast.walk(node):
        if "lineno" in new._attributes:
            new.lineno, new.col_offset = line, column  # type: ignore[attr-defined]
    return node


def annotation(node: ast.expr | None) -> ast.expr | None:
    """Return a function's annotation as text where it has the form of a type, else None. It is not run."""
    if node is None or not all(isinstance(part, _TYPE_NODES) for part in ast.walk(node)):
        return None
    return ast.copy_location(ast.Constant(ast.unparse(node)), node)


def field_annotation(node: ast.expr) -> ast.expr:
    """Return what a variable is annotated with: the marks that dataclasses look for, `Any` for all others."""
    inner = node
    while isinstance(inner, ast.Subscript):
        inner = inner.value
    text = (
        inner.value if isinstance(inner, ast.Constant) else getattr(inner, "attr", getattr(inner, "id", ""))
    )
    name = str(text).partition("[")[0].rpartition(".")[2].strip()
    return ast.copy_location(ast.Name(_FIELD_MARKS.get(name, ANY), ast.Load()), node)


def reads_no_attribute(template: object) -> bool:
    """Say whether a template for `str.format` is proven to read no attribute of what it formats."""
    return isinstance(template, str) and not _MAY_READ_ATTRIBUTE.search(template)
