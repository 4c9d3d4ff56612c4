"""Mends: small mechanical corrections of what models write by habit, each with a name that goes on record.

A mend never changes the rules of a game: it writes down what the code already means (``randint`` of another generator,
a forgotten ``super().reset``), or states facts that are not the model's to choose (the header's origin and round).
A source to which no mend applies comes back character for character.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from spade_train.designer import answering, draw_mends
from spade_train.designer.editing import Change, Code, Mend, is_super_reset
from spade_train.designer.headers import Facts, with_facts
from spade_train.designer.syntax import parsed

_IMPORTS = {
    "ToolEnv": "from spade_envs import ToolEnv",
    "run_program": "from spade_envs import run_program",
    "gym": "import gymnasium as gym",
    "spaces": "from gymnasium import spaces",
    "np": "import numpy as np",
}


@dataclass(frozen=True, slots=True)
class Mended:
    """A source and the names of the mends that changed it, in order."""

    source: str
    mends: tuple[str, ...] = ()


def mend(source: str, facts: Facts) -> Mended:
    """Return the source with everything mended that can be."""
    applied = []
    for name, change in MENDS.items():
        after = _applied(source, change)
        if after != source:
            applied.append(name)
            source = after
    after = with_facts(source, facts)
    return Mended(after, tuple(applied) if after == source else (*applied, "header"))


def _reset_arguments(code: Code) -> Iterator[Change]:
    """``reset`` without ``seed`` or ``options``, which Gymnasium passes."""
    reset = code.methods.get("reset")
    if reset is None:
        return
    arguments = reset.args
    if {"seed", "options"} <= {a.arg for a in (*arguments.args, *arguments.kwonlyargs)} or arguments.kwarg:
        return
    head = re.compile(rb"def\s+reset\s*\(([^()]*)\)").search(code.data, code.start(reset))
    if head is not None:
        yield Change(head.start(1), head.end(1), "self, *, seed=None, options=None")


def _super_reset(code: Code) -> Iterator[Change]:
    """``reset`` that does not seed the generator it draws from."""
    reset = code.methods.get("reset")
    if reset is None or any(is_super_reset(node) for node in ast.walk(reset)):
        return
    first = reset.body[1:] if ast.get_docstring(reset) is not None else reset.body
    if first:
        yield code.insert(first[0], "super().reset(seed=seed)")


def _reset_pair(code: Code) -> Iterator[Change]:
    """``reset`` that returns the observation alone, where Gymnasium wants ``observation, {}``."""
    reset = code.methods.get("reset")
    for node in _own_returns(reset) if reset else ():
        if node.value is not None and not isinstance(node.value, ast.Tuple):
            yield Change(code.end(node.value), code.end(node.value), ", {}")


def _reset_return(code: Code) -> Iterator[Change]:
    """``reset`` that gives a name to what it should return, and ends."""
    reset = code.methods.get("reset")
    if reset is None or any(True for _ in _own_returns(reset)):
        return
    match reset.body[-1]:
        case ast.Assign(targets=[ast.Name() as name], value=value) if _is_text(value):
            yield Change(code.start(name), code.data.index(b"=", code.end(name)) + 1, "return")


def _is_text(value: ast.expr) -> bool:
    """Whether a value is a text, or the pair of one and an info."""
    match value:
        case ast.JoinedStr() | ast.Constant(value=str()):
            return True
        case ast.BinOp(left=left, op=ast.Add() | ast.Mult(), right=right):
            return _is_text(left) or _is_text(right)
        case ast.Tuple(elts=[first, ast.Dict()]):
            return _is_text(first)
    return False


def _own_returns(function: ast.FunctionDef) -> Iterator[ast.Return]:
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Return):
            yield node
        elif not isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            waiting.extend(ast.iter_child_nodes(node))


def _imports(code: Code) -> Iterator[Change]:
    """Names of this project's and Gymnasium's that are used and never imported."""
    nodes = list(ast.walk(code.tree))
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    for node in nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            bound |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            bound.add(node.name)
    used = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    missing = [line for name, line in _IMPORTS.items() if name in used - bound]
    if missing and code.tree.body:
        yield code.insert(code.tree.body[0], "\n".join(missing))


def _answering(code: Code) -> Iterator[Change]:
    """An environment that asks a question, without the two methods that every such environment has."""
    missing = answering.missing(code.owner) if code.owner else []
    if code.owner and missing:
        end = code.end(code.owner.body[-1])
        yield Change(end, end, "\n\n" + "\n\n".join(missing))


MENDS: dict[str, Mend] = {
    "generator-name": draw_mends.generator_name,
    "generator-calls": draw_mends.generator_calls,
    "drawn-texts": draw_mends.drawn_texts,
    "drawn-sizes": draw_mends.drawn_sizes,
    "reset-arguments": _reset_arguments,
    "super-reset": _super_reset,
    "module-draws": draw_mends.module_draws,
    "reset-return": _reset_return,
    "reset-pair": _reset_pair,
    "answering": _answering,
    "imports": _imports,
}
"""Every mend of the code by its name, in the order in which they are tried; ``header`` comes last."""


def _applied(source: str, change: Mend) -> str:
    if parsed(source) is None:
        return source
    code = Code(source)
    data = code.data
    for one in sorted(change(code), key=lambda one: one.start, reverse=True):
        data = data[: one.start] + one.text.encode() + data[one.end :]
    changed = data.decode()
    return changed if parsed(changed) else source
