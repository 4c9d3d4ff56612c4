"""Mends of how a design draws its numbers: names and calls that NumPy's generator does not have as they are written."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from spade_train.designer.editing import Change, Code, is_super_reset

_DRAWS = {"randint": "integers", "random_integers": "integers", "rand": "random", "randn": "standard_normal"}
_PLAIN_DRAWS = ("sample", "choices", "randrange")  # of Python's random, not of NumPy's generator


def generator_name(code: Code) -> Iterator[Change]:
    """``self.np.random``, which is meant to be ``self.np_random``."""
    for node in ast.walk(code.tree):
        match node:
            case ast.Attribute(attr="random", value=ast.Attribute(attr="np", value=ast.Name(id="self"))):
                yield Change(code.start(node), code.end(node), "self.np_random")


def generator_calls(code: Code) -> Iterator[Change]:
    """``self.np_random.randint`` and other methods that a NumPy generator does not have."""
    for node in ast.walk(code.tree):
        match node:
            case ast.Attribute(attr=name, value=ast.Attribute(attr="np_random")) if name in _DRAWS:
                yield Change(code.end(node) - len(name), code.end(node), _DRAWS[name])
            case ast.Attribute(attr=name, value=ast.Attribute(attr="np_random")) if name in _PLAIN_DRAWS:
                yield Change(code.start(node), code.end(node), f"random.{name}")


def drawn_texts(code: Code) -> Iterator[Change]:
    """``choice("ABC")``, where NumPy's generator wants the letters in a list."""
    for node in ast.walk(code.tree):
        match node:
            case ast.Call(
                func=ast.Attribute(attr="choice" | "permutation", value=ast.Attribute(attr="np_random")),
                args=[ast.Constant(value=str()) as text, *_],
            ):
                yield Change(code.start(text), code.start(text), "list(")
                yield Change(code.end(text), code.end(text), ")")


def drawn_sizes(code: Code) -> Iterator[Change]:
    """``int`` of several draws: one for each turn of a comprehension, else a list of them, with or without brackets."""
    nodes = list(ast.walk(code.tree))
    each = {id(node.elt) for node in nodes if isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp))}
    each |= {id(node.value) for node in nodes if isinstance(node, ast.DictComp)}
    lists = {id(node.elts[0]): node for node in nodes if isinstance(node, ast.List) and len(node.elts) == 1}
    for node in nodes:
        match node:
            case ast.Call(func=ast.Name(id="int"), args=[ast.Call() as draws], keywords=[]) if size := _size(
                draws
            ):
                if id(node) in each:
                    yield from _without(size, draws, code)
                    continue
                whole = lists.get(id(node), node)
                yield Change(code.start(whole), code.start(draws), "[int(n) for n in ")
                yield Change(code.end(draws), code.end(whole), "]")


def _without(size: ast.keyword, call: ast.Call, code: Code) -> Iterator[Change]:
    """Leave the last argument of a call out, with the comma before it."""
    begin, others = code.start(size), [*call.args, *(one.value for one in call.keywords if one is not size)]
    if others and max(map(code.end, others)) < begin:
        yield Change(code.data.rindex(b",", 0, begin), code.end(size), "")


def _size(call: ast.Call) -> ast.keyword | None:
    """Return the size of a call that draws several numbers."""
    match call.func:
        case ast.Attribute(value=ast.Attribute(attr="np_random")):
            for one in call.keywords:
                match one:
                    case ast.keyword(arg="size", value=ast.Constant(value=int(count))) if count > 1:
                        return one
    return None


def module_draws(code: Code) -> Iterator[Change]:
    """Constants of the module that are drawn from ``self``, which is not to be had there: ``reset`` draws them.

    Only where nothing else uses them.
    """
    reset = code.methods.get("reset")
    strayed = [node for node in code.tree.body if isinstance(node, ast.Assign) and _names_self(node.value)]
    if reset is None or _are_used(strayed, code, reset):
        return
    begun = [at for at, node in enumerate(reset.body) if any(map(is_super_reset, ast.walk(node)))]
    if not begun or begun[0] + 1 == len(reset.body):
        return
    texts = []
    for node in strayed:
        texts.append(code.data[code.start(node) : code.end(node)].decode())
        yield Change(code.start(node), code.end(node), "")
    if texts:
        following = reset.body[begun[0] + 1]
        yield code.insert(following, f"\n{' ' * following.col_offset}".join(texts))


def _are_used(strayed: list[ast.Assign], code: Code, reset: ast.FunctionDef) -> bool:
    """Whether anything but ``reset`` and these statements themselves uses what they set."""
    names = {one.id for node in strayed for one in ast.walk(node) if isinstance(one, ast.Name)} - {"self"}
    own = {id(one) for node in (*strayed, reset) for one in ast.walk(node)}
    return any(
        isinstance(one, ast.Name) and one.id in names and id(one) not in own for one in ast.walk(code.tree)
    )


def _names_self(node: ast.expr) -> bool:
    if any(isinstance(one, ast.Lambda) for one in ast.walk(node)):
        return False
    return any(isinstance(one, ast.Name) and one.id == "self" for one in ast.walk(node))
