"""Whether instances of a design may share one namespace: only where it is proven that nothing in it ever changes.

A namespace of its own for each of a thousand instances means a thousand copies of the same code, which no
processor's cache holds. The proof has two halves. The first looks at the source (:func:`uses_of`): what the module's
functions do with names. The second looks at the values that those names have once the module has run
(:func:`may_share`). What neither can prove is taken to change.
"""

from __future__ import annotations

import ast
import dataclasses
import enum
import types
import typing
from typing import Any, NamedTuple

import numpy as np

from spade_envs.language.names import PROGRAM
from spade_envs.language.sealed import FACADE

_FORBIDDEN = frozenset(
    {"setattr", "delattr", "attrgetter", "methodcaller", "vars", "__class__", "sample", "classmethod"}
)
_IMPORTING = frozenset({ast.Import, ast.ImportFrom, ast.Name, ast.Attribute})
_TELLING = frozenset(
    {ast.Name, ast.Attribute, ast.Global, ast.FunctionDef, ast.arg, ast.AugAssign, ast.MatchClass}
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_OF_CLASSES = frozenset({"__new__", "__init_subclass__", "__class_getitem__", "__set_name__"})
_READING = frozenset(
    {"get", "items", "keys", "values", "index", "count", "copy", "union", "intersection", "difference"}
)
_TAKING = frozenset(
    {"join", "choice", "permutation", "array", "union", "intersection", "difference", "update", "extend"}
)
_PURE = frozenset(
    {
        "all",
        "any",
        "dict",
        "enumerate",
        "filter",
        "frozenset",
        "isinstance",
        "issubclass",
        "len",
        "list",
        "map",
        "max",
    }
    | {"min", "range", "repr", "reversed", "set", "sorted", "str", "sum", "tuple", "zip"}
)
_SETTLED = (
    *(int, float, complex, str, bytes, range, type(None), type(...), np.generic, type, types.ModuleType),
    *(
        types.FunctionType,
        typing._SpecialForm,
        types.BuiltinFunctionType,
        types.DynamicClassAttribute,
        types.MemberDescriptorType,
    ),
    *(types.GetSetDescriptorType, np.ufunc),
)


class Uses(NamedTuple):
    """What a module's functions do with names, of variables as well as of attributes.

    Attributes:
        mentioned: names that they read.
        handed_on: those of them that they do something with by which a value could change.
        stores: whether they store attributes of other objects than ``self``.
    """

    mentioned: frozenset[str]
    handed_on: frozenset[str]
    stores: bool

    def as_plain(self) -> tuple[frozenset[str], frozenset[str], bool]:
        """Return it in types that can be marshalled."""
        return self.mentioned, self.handed_on, self.stores


def uses_of(module: ast.Module) -> Uses | None:
    """Return what the functions of a module do with names; None where what they do cannot be told by names."""
    parents, inside = _laid_out(module)
    classes = frozenset(node.name for node in parents if isinstance(node, ast.ClassDef))
    travelling = {node for node in parents if _name(node) in classes and _travels(node, parents)}
    if any(_may_draw(node) for node in parents if type(node) in _IMPORTING):
        return None
    top = _bound(module)
    mentioned, handed_on, stores = set[str](), set[str](), False
    for node in inside:
        if (
            _is_beyond(node)
            or node in travelling
            or (_name(node) == "type" and not _only_asks(node, parents))
        ):
            return None
        mentioned |= (names := _read(node))
        if not isinstance(node, (ast.Name, ast.Attribute)) or not _only_reads(node, parents):
            handed_on |= names
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            stores = stores or not (isinstance(node.value, ast.Name) and node.value.id == "self")
            if isinstance(node.value, ast.Name) and node.value.id in top:
                return None
    return None if stores and travelling else Uses(frozenset(mentioned), frozenset(handed_on), stores)


def _laid_out(module: ast.Module) -> tuple[dict[ast.AST, ast.AST], list[ast.AST]]:
    """Return what each part of a module is a part of, and which stand in functions: all others run only once."""
    parents: dict[ast.AST, ast.AST] = {}
    inside: list[ast.AST] = []
    outside: list[ast.AST] = [module]
    for nodes in (outside, inside):
        for node in nodes:  # which grows meanwhile
            children = list(ast.iter_child_nodes(node))
            parents.update(dict.fromkeys(children, node))
            for child in children:
                (inside if nodes is inside or isinstance(child, _FUNCTIONS) else outside).append(child)
    return parents, inside


def _is_beyond(node: ast.AST) -> bool:
    """Say whether a part of a function may change what no name tells: a global, a class."""
    match node:
        case ast.Global():
            return True
        case ast.FunctionDef(name="reset"):
            return not _seeds(node)
        case ast.FunctionDef(name=name):
            return name in _OF_CLASSES
        case ast.arg(arg=name):
            return name == "cls"
    return _name(node) in _FORBIDDEN


def _read(node: ast.AST) -> set[str]:
    """Return the names that a part of a function reads."""
    match node:
        case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name, ctx=ast.Load()):
            return {name}
        case ast.AugAssign(target=ast.Attribute(attr=name)):
            return {name}
        case ast.MatchClass(kwd_attrs=names):
            return set(names)
    return set()


def _may_draw(node: ast.AST) -> bool:
    """Say whether a part of a module comes upon generators of numbers that all of its instances would share."""
    match node:
        case ast.Import(names=names):
            return any("random" in alias.name for alias in names)
        case ast.ImportFrom(module=path, names=names):
            return "random" in str(path) or any("random" in alias.name for alias in names)
        case (
            ast.Name(id="random" | "getattr")
            | ast.Attribute(attr="random", value=ast.Name(id="np" | "numpy"))
        ):
            return True
    return False


def _bound(module: ast.Module) -> set[str]:
    """Return the names of a module's functions and classes, and of what it binds outside of them."""
    defined = {node.name for node in module.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    others = [node for node in module.body if not isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    parts = [part for node in others for part in ast.walk(node)]
    return defined | {part.id for part in parts if isinstance(part, ast.Name)}


def _name(node: ast.AST) -> str | None:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else None


def _seeds(function: ast.FunctionDef) -> bool:
    """Say whether a reset begins as the contract wants it, so that no number is drawn from the module's generators."""
    calls = [ast.unparse(node.value) for node in function.body if isinstance(node, ast.Expr)]
    return "super().reset(seed=seed)" in calls or "super().reset(seed=seed, options=options)" in calls


def _only_reads(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Say whether a value is used in a way that neither changes it nor gives it to something else."""
    parent = parents[node]
    match parent:
        case ast.Subscript(value=value, ctx=ast.Load()) if value is node:
            return True
        case ast.Attribute(value=value, attr=attr) if value is node and attr in _READING:
            call = parents[parent]
            return isinstance(call, ast.Call) and call.func is parent
        case ast.Call(func=ast.Name(id=name)) if node in parent.args:
            return name in _PURE
        case ast.Call(func=ast.Attribute(attr=attr)) if node in parent.args:
            return attr in _TAKING
        case ast.For(iter=iterated) | ast.comprehension(iter=iterated):
            return iterated is node
        case ast.keyword(arg=None) | ast.Compare() | ast.Starred() | ast.FormattedValue() | ast.BinOp():
            return True
        case ast.Dict():
            return node in parent.values and parent.keys[parent.values.index(node)] is None
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            return test is node
        case ast.UnaryOp(op=ast.Not()):
            return True
    return False


def _travels(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Say whether a class is used otherwise than to make something, to read its members or to ask what a value is."""
    parent = parents[node]
    match parent:
        case ast.Call(func=called) if called is node:
            return False
        case ast.Call(func=ast.Name(id="isinstance" | "issubclass")) | ast.Attribute():
            return False
        case (
            ast.ExceptHandler()
            | ast.Raise()
            | ast.arg()
            | ast.FunctionDef()
            | ast.AnnAssign()
            | ast.MatchClass()
        ):
            return False
    return True


def _only_asks(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Say whether a type that is asked for is compared, called or named, and nothing else."""
    call = parents[node]
    user = parents[call]
    named = isinstance(user, ast.Attribute) and user.attr == "__name__"
    return isinstance(user, ast.Compare) or named or (isinstance(user, ast.Call) and user.func is call)


def may_share(namespace: dict[str, Any], uses: Uses) -> bool:
    """Say whether nothing that a module's namespace holds, nor any of its classes, can change."""
    held = [*namespace.items()]
    seen = set[type]()
    for _, value in held:  # which grows meanwhile
        for kind in value.__mro__ if isinstance(value, type) else ():
            if kind.__module__ in (PROGRAM, FACADE) and kind not in seen:
                seen.add(kind)
                held += (
                    one for one in vars(kind).items() if kind.__module__ == PROGRAM or type(one[1]) is dict
                )
    return all(_is_kept(name, value, uses) for name, value in held)


def _is_kept(name: str, value: Any, uses: Uses) -> bool:
    """Say whether a value cannot change, or is touched by nobody who would change it."""
    if _is_settled(value, uses):
        return True
    if callable(value) or hasattr(type(value), "__get__"):  # by whomever it is called
        return name.startswith("$")
    if name not in uses.mentioned or name.startswith("__"):
        return True
    if name in uses.handed_on or type(value) not in (dict, list, set):
        return False
    parts = [*value, *value.values()] if type(value) is dict else value
    return all(_is_settled(part, uses) for part in parts)


def _is_settled(value: Any, uses: Uses) -> bool:
    """Say whether a value is of a kind that cannot change."""
    parts: tuple[Any, ...] = ()
    if isinstance(value, types.FunctionType) and value.__module__ == PROGRAM:
        parts = (
            *(value.__defaults__ or ()),
            *(value.__kwdefaults__ or {}).values(),
            *value.__dict__.values(),
        )
        if value.__code__.co_freevars not in ((), ("__class__",)):
            return False
    elif isinstance(value, property):
        parts = value.fget, value.fset, value.fdel
    elif isinstance(value, staticmethod):
        parts = (value.__func__,)
    elif isinstance(value, enum.Enum):
        parts = (value.value,) if not uses.stores else ([],)
    elif isinstance(value, (tuple, frozenset)) and not hasattr(value, "__dict__"):
        parts = (*value,)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        frozen = type(value).__dataclass_params__.frozen  # type: ignore[attr-defined]
        parts = tuple(getattr(value, part.name) for part in dataclasses.fields(value)) if frozen else ([],)
    elif not isinstance(value, _SETTLED) or (
        type(value).__module__ == PROGRAM and not isinstance(value, type)
    ):
        return False  # the members of a class are looked at by themselves
    return all(_is_settled(part, uses) for part in parts)
