"""The language's policy: RestrictedPython's transformer with proofs in place of guards.

RestrictedPython refuses what it does not know and guards the rest at run time, which makes code six times
slower. Here a construct stands as it is where its harmlessness is proven (the argument is in
:mod:`spade_envs.language.attributes`), is wrapped in a guard where it is not, and else is refused.
"""

# ruff: noqa: N802, N815, D102  (the methods are named after the nodes that they visit)

from __future__ import annotations

import ast
from typing import Any, TypeVar

from RestrictedPython import RestrictingNodeTransformer

from spade_envs.contract import Finding
from spade_envs.language import refusals
from spade_envs.language.attributes import FORMAT, GUARDED, HELD, NEVER, READABLE, is_dunder, own_name
from spade_envs.language.names import BUILTINS, CLOCK_TYPE, COMMON, MODULES, SPECIAL_METHODS, UNCALLABLE
from spade_envs.language.refusals import Refusal
from spade_envs.language.rewriting import (
    EXCEPTION,
    annotation,
    check_owner,
    check_store,
    field_annotation,
    guarded_attribute,
    import_as,
    reads_no_attribute,
)
from spade_envs.language.survey import Survey

MAX_DEPTH = 100
"""How deep statements and expressions may be nested: each level costs the compiler several frames."""
MAX_COPIED = 20_000
"""How many nodes of syntax the blocks after `finally` may become."""
MAX_FINDINGS = 100
"""How many refusals of one file are listed."""

_Node = TypeVar("_Node", bound=ast.AST)
_LEAVES = (ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop)


class Policy(RestrictingNodeTransformer):  # type: ignore[misc]  # RestrictedPython has no types
    """Rewrites a module's tree in place and collects what it refuses.

    Args:
        seen: what the module's names stand for.
        own_stores_only: guard every write to an attribute, so that a program changes its own objects alone.
            For programs that run beside an environment; an environment shares its process with nobody.

    Attributes:
        findings: what was refused so far.
    """

    def __init__(self, seen: Survey, *, own_stores_only: bool = False) -> None:
        super().__init__()
        self.findings: list[Finding] = []
        self._seen = seen
        self._own_stores_only = own_stores_only
        self._scopes = ["module"]  # kinds, outermost first
        self._inside_classes: list[str] = []
        self._own_classes = {node.name for node in seen.classes}
        self._depth = 0

    def refuse(self, node: ast.AST, refusal: Refusal) -> None:
        """Record a refusal at the place of a node."""
        line, column = getattr(node, "lineno", None), getattr(node, "col_offset", -1) + 1
        self.findings.append(
            Finding(f"language.{refusal.rule}", refusal.found, refusal.remedy, line, column or None)
        )

    def not_allowed(self, node: ast.AST) -> None:
        """Refuse a node that RestrictedPython refuses or does not know."""
        self.refuse(node, refusals.construct(type(node).__name__))

    def visit(self, node: ast.AST) -> Any:
        """Visit a node, unless enough has been refused."""
        return super().visit(node) if len(self.findings) < MAX_FINDINGS else node

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        if isinstance(node.value, str) and CLOCK_TYPE.fullmatch(node.value):
            self.refuse(node, refusals.CLOCK_TYPE)
        return node

    def node_contents_visit(self, node: _Node) -> _Node:
        """Visit what a node consists of."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self.refuse(node, refusals.TOO_DEEP)
        else:
            for name in node._fields:
                part = getattr(node, name, None)
                if isinstance(part, ast.AST):
                    if not isinstance(part, _LEAVES):
                        setattr(node, name, self.visit(part))
                elif isinstance(part, list) and part:
                    part[:] = self._visit_list(part)
        self._depth -= 1
        return node

    def _visit_list(self, parts: list[Any]) -> list[Any]:
        visited: list[Any] = []
        for part in parts:
            new = self.visit(part) if isinstance(part, ast.AST) and not isinstance(part, _LEAVES) else part
            if isinstance(new, list):
                visited += new
            else:
                visited.append(new)
        return visited

    # Modules and names

    def visit_Module(self, node: ast.Module) -> ast.Module:
        node = self.node_contents_visit(node)
        node.body[:0] = [import_as(name, COMMON[name], node) for name in sorted(self._seen.forgotten)]
        return node

    def visit_Import(self, node: ast.Import) -> list[ast.stmt]:
        bindings = []
        for alias in node.names:
            first = alias.name.partition(".")[0]
            self._check_name(node, alias.asname or first)
            if alias.name not in MODULES:
                self.refuse(node, refusals.module(alias.name))
            name, path = (alias.asname, alias.name) if alias.asname else (first, first)
            bindings.append(import_as(name, path, node))
        return bindings

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.stmt]:
        module = "." * node.level + (node.module or "")
        bindings: list[ast.stmt] = [ast.copy_location(ast.Pass(), node)]
        if module not in MODULES:
            self.refuse(node, refusals.module(module))
            return bindings
        for alias in node.names:
            self._check_name(node, alias.asname or alias.name)
            if alias.name == "*":
                self.refuse(node, refusals.STAR_IMPORT)
            elif alias.name not in MODULES[module]:
                self.refuse(node, refusals.member(module, alias.name))
            elif module != "__future__":  # annotations are never evaluated, with that import or without
                bindings.append(import_as(alias.asname or alias.name, f"{module}.{alias.name}", node))
        return bindings

    def visit_Name(self, node: ast.Name) -> ast.Name:
        name, loads = node.id, isinstance(node.ctx, ast.Load)
        if is_dunder(name):
            in_class = self._scopes[-1] == "class" and name in SPECIAL_METHODS  # __radd__ = __add__
            if not in_class and not (loads and name in READABLE):
                self.refuse(node, refusals.dunder(name))
        elif loads:
            if name not in self._seen.bound and name not in BUILTINS:
                self.refuse(node, refusals.unknown(name, self._seen.bound))
        elif self._scopes[-1] == "module" or name in self._seen.globals:
            self._check_replaced(node, name)
        return node

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> ast.AST:
        for name in node.names:
            self._check_name(node, name)
        return node

    visit_Nonlocal = visit_Global

    # Functions, classes and annotations

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        if self._scopes[-1] != "class" or node.name not in SPECIAL_METHODS:
            self._check_name(node, node.name)
        if self._scopes[-1] == "module":
            self._check_replaced(node, node.name)
        node.returns = annotation(node.returns)
        return self._inside("function", node)

    def _function(self, node: ast.AST) -> ast.AST:
        return self._inside("function", node)

    visit_Lambda = visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _function

    def visit_arg(self, node: ast.arg) -> ast.arg:
        self._check_name(node, node.arg)
        node.annotation = annotation(node.annotation)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        self._check_name(node, node.name)
        if self._scopes[-1] == "module":
            self._check_replaced(node, node.name)
        for keyword in node.keywords:
            if keyword.arg != "total":  # of a TypedDict
                self.refuse(keyword, refusals.METACLASS)
        for base in node.bases:
            if getattr(base, "id", None) == "type":
                self.refuse(base, refusals.METACLASS)
        self._inside_classes.append(node.name.lstrip("_"))
        node = self._inside("class", node)
        self._inside_classes.pop()
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign:
        node.annotation = field_annotation(node.annotation)
        node.target = self.visit(node.target)
        node.value = node.value and self.visit(node.value)
        return node

    def _inside(self, scope: str, node: _Node) -> _Node:
        self._scopes.append(scope)
        node = self.node_contents_visit(node)
        self._scopes.pop()
        return node

    # Attributes, items and calls

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        name, loads = node.attr, isinstance(node.ctx, ast.Load)
        module = self._seen.dotted(node.value)
        if loads and module in MODULES:
            if name not in MODULES[module] and name not in READABLE:
                self.refuse(node, refusals.member(module, name))
            return node
        if not loads:
            self._check_not_imported(node, node.value)
        if is_dunder(name) and not (loads and self._may_read(node)):
            self.refuse(node, refusals.special_attribute(name))
        owner = node.value
        node = self.node_contents_visit(node)
        if loads and name in FORMAT:
            proven = name == "format" and reads_no_attribute(getattr(owner, "value", None))
            return node if proven else guarded_attribute(node)
        if self._mangled(name) in GUARDED:
            if name in NEVER or name not in self._seen.stored | self._seen.declared:
                self.refuse(node, refusals.attribute(name))
            if name in self._seen.declared:
                return check_owner(node)
            node.attr = own_name(name)
        guarded = not loads and (self._own_stores_only or not _is_self(owner) or name in HELD)
        return check_store(node) if guarded else node

    def visit_Subscript(self, node: ast.Subscript) -> ast.Subscript:
        if not isinstance(node.ctx, ast.Load):
            self._check_not_imported(node, node.value)
        return self.node_contents_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.Call:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if self._seen.dotted(node.func) in UNCALLABLE:
            self.refuse(node, refusals.RAW_MEMORY)
        if name == "type" and name not in self._seen.bound and len(node.args) + len(node.keywords) != 1:
            self.refuse(node, refusals.MAKES_CLASS)
        if name in ("getattr", "hasattr", "setattr") and len(node.args) > 1:
            computed = getattr(node.args[1], "value", None)
            if (
                isinstance(computed, str)
                and (computed in NEVER or is_dunder(computed))
                and computed not in READABLE
            ):
                self.refuse(node, refusals.attribute(computed))
        return self.node_contents_visit(node)

    def visit_keyword(self, node: ast.keyword) -> ast.keyword:
        self._check_name(node, node.arg)
        return self.node_contents_visit(node)

    # Handlers and patterns

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.ExceptHandler:
        self._check_name(node, node.name)
        bare = node.type is None
        node = self.node_contents_visit(node)
        if bare:  # it would also catch what stops a worker
            node.type = ast.copy_location(ast.Name(EXCEPTION, ast.Load()), node)
        return node

    def visit_Try(self, node: ast.Try) -> ast.Try:
        if node.finalbody:
            self._check_finally(node)
        return self.node_contents_visit(node)

    def _check_finally(self, node: ast.Try) -> None:
        """Python's compiler copies what follows `finally` to every way out of the block."""
        after = [part for statement in node.finalbody for part in ast.walk(statement)]
        before = (
            part for statement in (*node.body, *node.handlers, *node.orelse) for part in ast.walk(statement)
        )
        ways_out = 2 + sum(isinstance(part, (ast.Return, ast.Break, ast.Continue)) for part in before)
        nested = any(isinstance(part, ast.Try) and part.finalbody for part in after)
        if nested or ways_out * len(after) > MAX_COPIED:
            self.refuse(node, refusals.FINALLY)

    def visit_TryStar(self, node: ast.AST) -> ast.AST:
        self.refuse(node, refusals.EXCEPT_STAR)
        return node

    def visit_MatchClass(self, node: ast.MatchClass) -> ast.MatchClass:
        for name in node.kwd_attrs:
            if is_dunder(name) or self._mangled(name) in GUARDED:
                self.refuse(node, refusals.attribute(name))
        return self.node_contents_visit(node)

    def _capture(self, node: Any) -> Any:
        self._check_name(node, node.rest if isinstance(node, ast.MatchMapping) else node.name)
        return self.node_contents_visit(node)

    visit_MatchAs = visit_MatchStar = visit_MatchMapping = _capture

    def _plain(self, node: _Node) -> _Node:
        return self.node_contents_visit(node)

    # Harmless as they stand; RestrictedPython would guard or refuse them.
    visit_Assign = visit_AugAssign = visit_For = visit_With = visit_comprehension = visit_Match = _plain
    visit_match_case = visit_MatchValue = visit_MatchSingleton = visit_MatchSequence = visit_MatchOr = _plain

    # What the visits ask

    def _check_name(self, node: ast.AST, name: str | None) -> None:
        if name is not None and is_dunder(name):
            self.refuse(node, refusals.dunder(name))

    def _check_replaced(self, node: ast.AST, name: str) -> None:
        if name in BUILTINS:
            self.refuse(node, refusals.replaced(name))

    def _check_not_imported(self, node: ast.AST, owner: ast.expr) -> None:
        while isinstance(owner, (ast.Attribute, ast.Subscript)):
            owner = owner.value
        if (path := self._seen.dotted(owner)) is not None:
            self.refuse(node, refusals.foreign_write(path))

    def _may_read(self, node: ast.Attribute) -> bool:
        """Say whether a double-underscore attribute is one of the few that may be read."""
        owner = node.value
        of_super = isinstance(owner, ast.Call) and getattr(owner.func, "id", None) == "super"
        of_class = getattr(owner, "id", None) in self._own_classes
        return (
            node.attr in READABLE
            or (of_super and node.attr in SPECIAL_METHODS)
            or (of_class and node.attr == "__init__")
        )

    def _mangled(self, name: str) -> str:
        """Return what Python makes of a class-private name."""
        inner = self._inside_classes[-1] if self._inside_classes else ""
        return f"_{inner}{name}" if inner and name.startswith("__") and not name.endswith("__") else name


def _is_self(owner: ast.expr) -> bool:
    """Say whether an expression is `self`: mostly one of the design's own objects, but that is no proof."""
    return isinstance(owner, ast.Name) and owner.id == "self"
