"""What a module binds and names, found in one walk before the policy judges it."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from spade_envs.language.names import COMMON, MODULES

_NAMING_CALLS = frozenset({"namedtuple", "NamedTuple", "setattr", "getattr", "hasattr"})


@dataclass(frozen=True, slots=True)
class Survey:
    """Names of one module, by what they stand for.

    Attributes:
        bound: every name that is bound anywhere.
        globals: names in `global` statements.
        classes: the module's own top-level classes.
        stored: names of attributes that the module's statements store.
        declared: names of attributes that it defines otherwise: members of classes, texts for `setattr`.
        forgotten: names of :data:`~spade_envs.language.names.COMMON` that are used and that the module's top
            level does not bind.
        imported: names that only imports bind, with the module or member that they stand for.
    """

    bound: frozenset[str] = frozenset()
    globals: frozenset[str] = frozenset()
    classes: tuple[ast.ClassDef, ...] = ()
    stored: frozenset[str] = frozenset()
    declared: frozenset[str] = frozenset()
    forgotten: frozenset[str] = frozenset()
    imported: dict[str, str] = field(default_factory=dict)

    def dotted(self, node: ast.AST) -> str | None:
        """Return the module or member that an expression stands for (``"numpy.random"``), or None."""
        if isinstance(node, ast.Name):
            return self.imported.get(node.id)
        if isinstance(node, ast.Attribute):
            module = self.dotted(node.value)
            if module in MODULES and node.attr in MODULES[module]:
                return f"{module}.{node.attr}"
        return None


def survey(module: ast.Module) -> Survey:
    """Return what a module's names stand for."""
    found: _Found = defaultdict(set)
    for node in ast.walk(module):
        if (collect := _COLLECTORS.get(type(node))) is not None:
            collect(node, found)
    forgotten = frozenset((found["loaded"] & COMMON.keys()) - _top_level(module.body))
    imports = found["imports"] | {(name, COMMON[name]) for name in forgotten}
    times = Counter(name for name, _ in imports)
    others = found["bound"]
    return Survey(
        bound=frozenset(others.union(times)),
        globals=frozenset(found["globals"]),
        classes=tuple(node for node in module.body if isinstance(node, ast.ClassDef)),
        stored=frozenset(found["stored"]),
        declared=frozenset(found["declared"]),
        forgotten=forgotten,
        imported={name: path for name, path in imports if name not in others and times[name] == 1},
    )


_Found = defaultdict[str, set[Any]]


def _imports(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    for alias in node.names:
        first = alias.name.partition(".")[0]
        if isinstance(node, ast.ImportFrom):
            yield alias.asname or alias.name, f"{node.module}.{alias.name}"
        else:
            yield (alias.asname, alias.name) if alias.asname else (first, first)


def _name(node: ast.Name, found: _Found) -> None:
    found["loaded" if isinstance(node.ctx, ast.Load) else "bound"].add(node.id)


def _class(node: ast.ClassDef, found: _Found) -> None:
    found["bound"].add(node.name)
    found["declared"] |= _top_level(node.body)


def _attribute(node: ast.Attribute, found: _Found) -> None:
    if not isinstance(node.ctx, ast.Load):
        found["stored"].add(node.attr)


def _call(node: ast.Call, found: _Found) -> None:
    """Collect the attributes that `namedtuple("Point", "row col")` and its like name in texts."""
    called = getattr(node.func, "id", getattr(node.func, "attr", None))
    if called in _NAMING_CALLS:
        for part in ast.walk(node):
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                found["declared"].update(part.value.replace(",", " ").split())


def _binds(field_name: str) -> Callable[[ast.AST, _Found], None]:
    def collect(node: ast.AST, found: _Found) -> None:
        if (name := getattr(node, field_name)) is not None:
            found["bound"].add(name)

    return collect


_COLLECTORS: dict[type, Callable[[Any, _Found], Any]] = {
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.ClassDef: _class,
    ast.Import: lambda node, found: found["imports"].update(_imports(node)),
    ast.ImportFrom: lambda node, found: found["imports"].update(_imports(node)),
    ast.Global: lambda node, found: found["globals"].update(node.names),
    ast.FunctionDef: _binds("name"),
    ast.AsyncFunctionDef: _binds("name"),
    ast.ExceptHandler: _binds("name"),
    ast.MatchAs: _binds("name"),
    ast.MatchStar: _binds("name"),
    ast.MatchMapping: _binds("rest"),
    ast.arg: _binds("arg"),
}


def _top_level(body: Iterable[ast.stmt]) -> set[str]:
    """Return what statements bind, outside of the functions and classes among them."""
    found: _Found = defaultdict(set)
    nodes: list[ast.AST] = list(body)
    for node in nodes:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found["bound"].add(node.name)
            continue
        if (collect := _COLLECTORS.get(type(node))) is not None:
            collect(node, found)
        nodes.extend(ast.iter_child_nodes(node))
    return found["bound"] | {name for name, _ in found["imports"]}
