"""What a module binds, found in one walk before the policy judges it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from spade_envs.language.names import COMMON, MODULES

_NAMING_CALLS = frozenset({"namedtuple", "NamedTuple", "setattr"})


@dataclass(frozen=True)
class Survey:
    """Names of one module, by what they stand for.

    Attributes:
        bound: every name that is bound anywhere.
        globals: names in `global` statements.
        classes: names of the module's own classes.
        attributes: names that the module gives to attributes of its own objects.
        forgotten: names of :data:`~spade_envs.language.names.COMMON` that are used and that no import brings.
        imported: names that only imports bind, with the module or member that they stand for.
    """

    bound: frozenset[str] = frozenset()
    globals: frozenset[str] = frozenset()
    classes: frozenset[str] = frozenset()
    attributes: frozenset[str] = frozenset()
    forgotten: frozenset[str] = frozenset()
    imported: dict[str, str] = field(default_factory=dict)

    def dotted(self, node: ast.AST) -> str | None:
        """Return the module or member that an expression stands for, such as ``numpy.random``; None if neither."""
        if isinstance(node, ast.Name):
            return self.imported.get(node.id)
        if isinstance(node, ast.Attribute):
            module = self.dotted(node.value)
            if module in MODULES and node.attr in MODULES[module]:
                return f"{module}.{node.attr}"
        return None


def survey(module: ast.Module) -> Survey:
    """Return what a module's names stand for."""
    nodes = list(ast.walk(module))
    imports = [binding for node in nodes for binding in _imports(node)]
    others = {name for node in nodes for name in _bindings(node)}
    forgotten = _loaded(nodes) & COMMON.keys() - _module_level(module)
    imports += [(name, COMMON[name]) for name in forgotten]
    paths: dict[str, set[str]] = {}
    for name, path in imports:
        paths.setdefault(name, set()).add(path)
    return Survey(
        bound=frozenset(others | paths.keys()),
        globals=frozenset(name for node in nodes if isinstance(node, ast.Global) for name in node.names),
        classes=frozenset(node.name for node in nodes if isinstance(node, ast.ClassDef)),
        attributes=frozenset(name for node in nodes for name in _attributes(node)),
        forgotten=frozenset(forgotten),
        imported={name: path.pop() for name, path in paths.items() if len(path) == 1 and name not in others},
    )


def _imports(node: ast.AST) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            first = alias.name.partition(".")[0]
            yield (alias.asname, alias.name) if alias.asname else (first, first)
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def _bindings(node: ast.AST) -> Iterator[str]:
    """Yield what a node binds, imports aside."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.arg(arg=name) | ast.MatchMapping(rest=str(name)):
            yield name
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name


def _loaded(nodes: list[ast.AST]) -> set[str]:
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def _module_level(module: ast.Module) -> set[str]:
    """Return what the module's own statements bind, outside functions and classes."""
    names: set[str] = set()
    nodes: list[ast.AST] = list(module.body)
    for node in nodes:
        names.update(_bindings(node), (name for name, _ in _imports(node)))
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Lambda)):
            nodes.extend(ast.iter_child_nodes(node))
    return names


def _attributes(node: ast.AST) -> Iterator[str]:
    """Yield names that a node gives to attributes: stores, members of classes, fields of named tuples."""
    match node:
        case ast.Attribute(attr=name, ctx=ast.Store()):
            yield name
        case ast.ClassDef(body=body):
            yield from _module_level(ast.Module(body, []))
        case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called)) if called in _NAMING_CALLS:
            for part in ast.walk(node):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield from part.value.replace(",", " ").split()
