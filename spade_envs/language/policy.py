"""The language's policy: RestrictedPython's transformer with proofs in place of guards.

RestrictedPython refuses what it does not know and guards the rest at run time, which makes code six times slower.
Here a construct is let through as it stands where its harmlessness is proven (see
:mod:`spade_envs.language.attributes`), is wrapped in a guard where it is not, and else is refused with its
place and a remedy. Names of guards begin with ``$``, which no source can write, so nothing can shadow them.
"""

from __future__ import annotations

import ast
import string
from collections.abc import Iterable
from typing import Any, cast

from RestrictedPython import RestrictingNodeTransformer

from spade_envs.contract import Finding, near_matches
from spade_envs.language.attributes import FORMAT, GUARDED, GUARDED_STORES, NEVER, is_dunder
from spade_envs.language.names import (
    BUILTINS,
    COMMON,
    MEMBER_REMEDIES,
    MODULE_REMEDIES,
    MODULES,
    REFUSED_BUILTINS,
    SPECIAL_METHODS,
    UNCALLABLE,
)
from spade_envs.language.survey import Survey, survey

GUARD_OWN, GUARD_FORMAT, IMPORT = "$own", "$format", "$import"
ANY, CLASS_VAR, INIT_VAR, KEYWORDS_ONLY, EXCEPTION = "$Any", "$ClassVar", "$InitVar", "$KW_ONLY", "$Exception"

_READABLE = frozenset({"__name__", "__doc__"})
_FIELD_MARKS = {"ClassVar": CLASS_VAR, "InitVar": INIT_VAR, "KW_ONLY": KEYWORDS_ONLY}
_TYPE_NODES = (
    ast.Name,
    ast.Attribute,
    ast.Subscript,
    ast.Constant,
    ast.Tuple,
    ast.List,
    ast.BinOp,
    ast.UnaryOp,
)
_TYPE_NODES += (ast.BitOr, ast.USub, ast.Load)


class Policy(RestrictingNodeTransformer):  # type: ignore[misc]  # RestrictedPython has no types
    """Rewrites a module's tree in place and collects what it refuses.

    Attributes:
        findings: what was refused so far, in the order of the source.
    """

    def __init__(self) -> None:
        super().__init__()
        self.findings: list[Finding] = []
        self._scopes = ["module"]  # kinds, outermost first
        self._classes: list[str] = []
        self._seen = Survey()

    def error(self, node: ast.AST, info: str) -> None:
        """Record what RestrictedPython's own methods refuse: constructs that this policy does not know."""
        construct = info.partition(" ")[0]
        if construct.startswith(("Async", "Await")):
            self.refuse(
                node, "async", f"`{construct}` is asynchronous.", "Write ordinary functions and loops."
            )
        else:
            self.refuse(node, "construct", f"{info}", "Write it in plainer Python, as in Python 3.11.")

    def refuse(self, node: ast.AST, rule: str, found: str, remedy: str) -> None:
        """Record one refusal at the place of a node."""
        line, column = getattr(node, "lineno", None), getattr(node, "col_offset", None)
        place = (line, None if column is None else column + 1)
        self.findings.append(Finding(f"language.{rule}", found, remedy, *place))

    # Modules, imports and names

    def visit_Module(self, node: ast.Module) -> ast.Module:  # noqa: N802, D102
        node.body = [part for statement in node.body for part in _without_main_block(statement)]
        self._seen = survey(node)
        node = self.node_contents_visit(node)
        node.body[:0] = [_bind(name, COMMON[name]) for name in sorted(self._seen.forgotten)]
        return ast.fix_missing_locations(node)

    def visit_Import(self, node: ast.Import) -> list[ast.stmt]:  # noqa: N802, D102
        bindings: list[ast.stmt] = []
        for alias in node.names:
            self._check_name(node, alias.asname or alias.name.partition(".")[0])
            if alias.name not in MODULES:
                self._refuse_module(node, alias.name)
            elif alias.asname:
                bindings.append(_bind(alias.asname, alias.name))
            else:  # `import a.b` binds `a`
                first = alias.name.partition(".")[0]
                bindings.append(_bind(first, first))
        return [ast.copy_location(binding, node) for binding in bindings]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.stmt]:  # noqa: N802, D102
        module = "." * node.level + (node.module or "")
        if module not in MODULES:
            self._refuse_module(node, module)
            return []
        for alias in node.names:
            self._check_name(node, alias.asname or alias.name)
            if alias.name == "*":
                self.refuse(
                    node, "import", f"`from {module} import *` hides what it imports.", "Name each member."
                )
            elif alias.name not in MODULES[module]:
                self._refuse_member(node, module, alias.name)
        if module == "__future__":  # annotations are never evaluated here, with or without it
            return [ast.copy_location(ast.Pass(), node)]
        bindings = [_bind(alias.asname or alias.name, f"{module}.{alias.name}") for alias in node.names]
        return [ast.copy_location(binding, node) for binding in bindings]

    def visit_Name(self, node: ast.Name) -> ast.Name:  # noqa: N802, D102
        special = node.id in SPECIAL_METHODS and self._scopes[-1] == "class"
        if not special and not (isinstance(node.ctx, ast.Load) and node.id in _READABLE):
            self._check_name(node, node.id)
        if isinstance(node.ctx, ast.Load):
            self._check_known(node)
        elif node.id in BUILTINS and (self._scopes[-1] == "module" or node.id in self._seen.globals):
            self._refuse_replacing(node, node.id)
        return node

    def visit_Global(self, node: ast.Global) -> ast.Global:  # noqa: N802, D102
        for name in node.names:
            self._check_name(node, name)
        return node

    def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.Nonlocal:  # noqa: N802, D102
        for name in node.names:
            self._check_name(node, name)
        return node

    # Functions, classes and annotations

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:  # noqa: N802, D102
        if self._scopes[-1] != "class" or node.name not in SPECIAL_METHODS:
            self._check_name(node, node.name)
        if self._scopes[-1] == "module" and node.name in BUILTINS:
            self._refuse_replacing(node, node.name)
        node.returns = _annotation(node.returns)
        return self._inside("function", node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:  # noqa: N802, D102
        return self._inside("function", node)

    def visit_arg(self, node: ast.arg) -> ast.arg:  # noqa: N802, D102
        self._check_name(node, node.arg)
        node.annotation = _annotation(node.annotation)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:  # noqa: N802, D102
        self._check_name(node, node.name)
        if self._scopes[-1] == "module" and node.name in BUILTINS:
            self._refuse_replacing(node, node.name)
        for keyword in node.keywords:
            if keyword.arg != "total":
                found = f"The class `{node.name}` is given `{keyword.arg or '**'}`."
                self.refuse(
                    keyword, "metaclass", found, "Leave it out; an abstract class derives from abc.ABC."
                )
        if any(isinstance(base, ast.Name) and base.id == "type" for base in node.bases):
            found = f"The class `{node.name}` is a metaclass."
            self.refuse(
                node, "metaclass", found, "Write a function that returns what you need, or a base class."
            )
        self._classes.append(node.name.lstrip("_"))
        node = self._inside("class", node)
        self._classes.pop()
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign:  # noqa: N802, D102
        in_class = self._scopes[-1] == "class"
        node.annotation = _field_mark(node.annotation) if in_class else ast.Constant(None)
        node.target = self.visit(node.target)
        node.value = node.value and self.visit(node.value)
        return node

    # Attributes, items and calls

    def visit_Attribute(self, node: ast.Attribute) -> ast.Attribute | ast.Call:  # noqa: N802, D102
        loads, name = isinstance(node.ctx, ast.Load), node.attr
        module = self._seen.dotted(node.value)
        if not loads:
            self._check_owner(node, node.value)
        elif module in MODULES:
            if name not in MODULES[module] and name not in _READABLE:
                self._refuse_member(node, module, name)
            return self.node_contents_visit(node)
        if is_dunder(name):
            self._check_special(node)
        elif loads and name in FORMAT:
            return self._formatted(node)
        node = self.node_contents_visit(node)
        if self._mangled(name) in (GUARDED if loads else GUARDED_STORES):
            self._guard(node)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.Subscript:  # noqa: N802, D102
        if not isinstance(node.ctx, ast.Load):
            self._check_owner(node, node.value)
        return self.node_contents_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.Call:  # noqa: N802, D102
        path = self._seen.dotted(node.func)
        if path in UNCALLABLE:
            remedy = "Write np.zeros(shape), np.array(values) or np.random.default_rng(seed)."
            self.refuse(node, "construct", f"`{path}(...)` builds on raw memory.", remedy)
        for keyword in node.keywords:
            if keyword.arg and is_dunder(keyword.arg):
                self._check_name(keyword, keyword.arg)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name == "type" and (len(node.args) != 1 or node.keywords or isinstance(node.args[0], ast.Starred)):
            self.refuse(
                node, "type", "`type` with more than one argument makes a class.", "Write a class statement."
            )
        if name in ("getattr", "hasattr", "setattr") and len(node.args) > 1:
            self._check_constant_name(node.args[1])
        return self.node_contents_visit(node)

    # Handlers and patterns

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.ExceptHandler:  # noqa: N802, D102
        if node.name:
            self._check_name(node, node.name)
        if node.type is None:  # a bare one would also catch what stops a worker
            node.type = ast.copy_location(ast.Name(EXCEPTION, ast.Load()), node)
            node.body = [self.visit(statement) for statement in node.body]
            return node
        return self.node_contents_visit(node)

    def visit_TryStar(self, node: ast.AST) -> ast.AST:  # noqa: N802, D102
        self.refuse(node, "construct", "`except*` handles exception groups.", "Write `except`.")
        return node

    def visit_MatchClass(self, node: ast.MatchClass) -> ast.MatchClass:  # noqa: N802, D102
        for name in node.kwd_attrs:
            if is_dunder(name) or name in GUARDED:
                self.refuse(
                    node, "attribute", f"The pattern reads `.{name}`.", "Compare that attribute by itself."
                )
        return self.node_contents_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> ast.MatchAs:  # noqa: N802, D102
        return self._capture(node, node.name)

    def visit_MatchStar(self, node: ast.MatchStar) -> ast.MatchStar:  # noqa: N802, D102
        return self._capture(node, node.name)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> ast.MatchMapping:  # noqa: N802, D102
        return self._capture(node, node.rest)

    def _comprehension(self, node: ast.AST) -> ast.AST:
        return cast("ast.AST", self._inside("function", node))

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def _plain(self, node: ast.AST) -> ast.AST:
        return self.node_contents_visit(node)

    # Harmless as they stand; RestrictedPython guards or refuses them.
    visit_Assign = visit_AugAssign = visit_For = visit_With = visit_comprehension = visit_Match = _plain
    visit_match_case = visit_MatchValue = visit_MatchSingleton = visit_MatchSequence = visit_MatchOr = _plain

    # What the visits share

    def _inside(self, scope: str, node: Any) -> Any:
        self._scopes.append(scope)
        node = self.node_contents_visit(node)
        self._scopes.pop()
        return node

    def _capture(self, node: Any, name: str | None) -> Any:
        if name:
            self._check_name(node, name)
        return self.node_contents_visit(node)

    def _check_name(self, node: ast.AST, name: str) -> None:
        if is_dunder(name):
            found = f"`{name}` belongs to Python."
            self.refuse(
                node, "dunder", found, "Choose another name; a class may define the methods of the contract."
            )

    def _check_known(self, node: ast.Name) -> None:
        name = node.id
        if name in self._seen.bound or name in BUILTINS or name in COMMON or is_dunder(name):
            return
        if name in REFUSED_BUILTINS:
            self.refuse(node, "builtin", f"`{name}` is not to be had here.", REFUSED_BUILTINS[name])
            return
        modules = [module for module in MODULES if name in MODULES[module] or name == module]
        near = near_matches(name, [*self._seen.bound, *BUILTINS])
        where = f"from {modules[0]} import {name}" if modules and modules[0] != name else f"import {name}"
        remedy = (
            f"Write `{where}` first."
            if modules
            else f"Did you mean `{near[0]}`?"
            if near
            else "Define it first."
        )
        self.refuse(node, "name", f"Nothing defines `{name}`.", remedy)

    def _check_owner(self, node: ast.AST, owner: ast.expr) -> None:
        while isinstance(owner, (ast.Attribute, ast.Subscript)):
            owner = owner.value
        if (path := self._seen.dotted(owner)) is not None:
            found = f"This writes into `{path}`, which was imported."
            self.refuse(node, "foreign-write", found, "Keep your own state on self.")

    def _check_special(self, node: ast.Attribute) -> None:
        name, owner, loads = node.attr, node.value, isinstance(node.ctx, ast.Load)
        of_super = (
            isinstance(owner, ast.Call) and isinstance(owner.func, ast.Name) and owner.func.id == "super"
        )
        of_class = isinstance(owner, ast.Name) and owner.id in self._seen.classes and name == "__init__"
        if loads and (name in _READABLE or (of_super and name in SPECIAL_METHODS) or of_class):
            return
        remedy = {
            "__class__": "Write type(object).",
            "__dict__": "Name the attributes, or use a dataclass and asdict().",
        }
        other = "Use Python's own syntax or builtins for it; `__name__` and `__doc__` may be read."
        self.refuse(node, "dunder", f"The attribute `{name}` belongs to Python.", remedy.get(name, other))

    def _check_constant_name(self, node: ast.expr) -> None:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            name = node.value
            if (is_dunder(name) and name not in _READABLE) or name in NEVER:
                self.refuse(
                    node, "attribute", f"`{name}` leads into Python itself.", "Name an attribute of your own."
                )

    def _mangled(self, name: str) -> str:
        """Return the name that Python makes of a class-private one."""
        private = name.startswith("__") and not name.endswith("__") and self._classes and self._classes[-1]
        return f"_{self._classes[-1]}{name}" if private else name

    def _guard(self, node: ast.Attribute) -> None:
        name = node.attr
        if name in NEVER or name not in self._seen.attributes:
            clock = name in ("now", "today", "utcnow")
            remedy = "Count steps: an environment has no clock." if clock else "Leave it out."
            self.refuse(node, "attribute", f"The attribute `{name}` is not to be had here.", remedy)
            return
        node.value = ast.Call(ast.Name(GUARD_OWN, ast.Load()), [node.value, ast.Constant(name)], [])

    def _formatted(self, node: ast.Attribute) -> ast.Attribute | ast.Call:
        template = node.value.value if isinstance(node.value, ast.Constant) else None
        if isinstance(template, str) and node.attr == "format" and reads_no_attribute(template):
            return node
        owner = self.visit(node.value)
        call = ast.Call(ast.Name(GUARD_FORMAT, ast.Load()), [owner, ast.Constant(node.attr)], [])
        return ast.copy_location(call, node)

    def _refuse_module(self, node: ast.AST, module: str) -> None:
        first = module.lstrip(".").partition(".")[0]
        near = near_matches(module, MODULES)
        other = (
            f"Did you mean `{near[0]}`?" if near else f"Leave it out. There are {', '.join(sorted(MODULES))}."
        )
        self.refuse(node, "import", f"`{module}` cannot be imported.", MODULE_REMEDIES.get(first, other))

    def _refuse_member(self, node: ast.AST, module: str, name: str) -> None:
        near = near_matches(name, MODULES[module])
        other = f"Did you mean `{near[0]}`?" if near else "Write it yourself, or do without."
        remedy = MEMBER_REMEDIES.get(f"{module}.{name}", other)
        self.refuse(node, "import", f"`{module}` has no `{name}` here.", remedy)

    def _refuse_replacing(self, node: ast.AST, name: str) -> None:
        self.refuse(node, "builtin", f"This replaces the builtin `{name}`.", "Choose another name.")


def reads_no_attribute(template: str) -> bool:
    """Say whether a template for ``str.format`` is proven to read no attribute of its arguments."""
    try:
        fields = [(name, spec) for _, name, spec, _ in string.Formatter().parse(template) if name is not None]
    except ValueError:
        return True  # it raises before it reads anything
    return all("." not in name and reads_no_attribute(spec or "") for name, spec in fields)


def _without_main_block(statement: ast.stmt) -> Iterable[ast.stmt]:
    """Drop the body of `if __name__ == "__main__":`, which never runs."""
    if not isinstance(statement, ast.If) or not isinstance(statement.test, ast.Compare):
        return [statement]
    sides = [statement.test.left, *statement.test.comparators]
    names = {side.id for side in sides if isinstance(side, ast.Name)}
    values = {side.value for side in sides if isinstance(side, ast.Constant)}
    equal = len(sides) == 2 and isinstance(statement.test.ops[0], ast.Eq)
    return statement.orelse if equal and (names, values) == ({"__name__"}, {"__main__"}) else [statement]


def _bind(name: str, path: str) -> ast.stmt:
    """Return the statement `name = $import("path")`."""
    value = ast.Call(ast.Name(IMPORT, ast.Load()), [ast.Constant(path)], [])
    return ast.Assign([ast.Name(name, ast.Store())], value, lineno=1, col_offset=0)


def _annotation(node: ast.expr | None) -> ast.expr | None:
    """Keep a function's annotation as text, where it has the form of a type. It is never evaluated."""
    if node is None or not all(isinstance(part, _TYPE_NODES) for part in ast.walk(node)):
        return None
    return ast.copy_location(ast.Constant(ast.unparse(node)), node)


def _field_mark(node: ast.expr) -> ast.expr:
    """Return what a class's field is annotated with: a dataclass must see its marks and no text to evaluate."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value
    else:
        text = ast.unparse(node.value if isinstance(node, ast.Subscript) else node)
    name = text.partition("[")[0].rpartition(".")[2].strip()
    return ast.Name(_FIELD_MARKS.get(name, ANY), ast.Load())
