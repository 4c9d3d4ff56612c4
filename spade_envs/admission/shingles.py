"""What a source and its rules are made of, as sets of hashes that renaming and layout do not change.

A sketch is a MinHash: the least value of each of many hash functions over a set. The share of places in which
two sketches agree estimates the likeness of the two sets (Jaccard's: what they share over what either holds).
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Sketch = NDArray[np.uint32]
EMPTY = np.uint32(2**32 - 1)  # every place of the sketch of nothing
TREE_RUN, TEXT_RUN = 6, 3  # nodes, or words, that stand together in one shingle
_CONTEXTS = (ast.expr_context, ast.Load, ast.Store, ast.Del)
_CONTRACT = frozenset(
    {"reset", "step", "render", "hint", "expert_action", "goal_reached", "next_instruction"}
)
_BUILTINS = frozenset(dir(builtins))


def tree_shingles(source: str) -> frozenset[bytes]:
    """Return the shingles of a source's normalised syntax tree; none where it is no Python.

    Names that the source itself gives, strings, numbers, annotations, docstrings and what every design of its kind
    has are left out; the names of builtins, of the contract's methods and of what others define stay, since nobody
    can rename those.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    own = _own_names(tree)
    return _runs([part for node in tree.body for part in _parts(node, own)], TREE_RUN)


def text_shingles(text: str) -> frozenset[bytes]:
    """Return the shingles of a text's words, without their case; numbers count as one word."""
    words = re.findall(r"[^\W\d_]+|\d+", text.lower())
    return _runs(["0" if word.isdigit() else word for word in words], TEXT_RUN)


def sketch(shingles: Iterable[bytes], size: int) -> Sketch:
    """Return the MinHash of a set; all ones where the set is empty, which is like nothing else."""
    hashes = np.array([_hash(shingle) for shingle in sorted(shingles)], dtype=np.uint64)
    if not len(hashes):
        return np.full(size, EMPTY, dtype=np.uint32)
    factors, terms = _FACTORS[:size, None], _TERMS[:size, None]
    mixed = (hashes[None, :] * factors + terms) >> np.uint64(32)  # multiply and shift, modulo 2**64
    least: Sketch = mixed.min(axis=1).astype(np.uint32)
    return least


def _own_names(tree: ast.AST) -> frozenset[str]:
    """Return the names that a source gives to something itself, but for those that the contract gives."""
    own: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
                own.add(name)
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                own.add(name)
            case ast.alias(name=name, asname=other):
                own.add((other or name).partition(".")[0])
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                own.add(name)
    return frozenset(own - _CONTRACT)


def _parts(root: ast.AST, own: frozenset[str]) -> Iterator[str]:
    """Yield what a tree is made of in the order of the text; without recursion, since trees may be deep."""
    waiting: list[ast.AST | str] = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            yield node
        elif not isinstance(node, _CONTEXTS):
            yield _label(node, own)
            waiting.extend(reversed(_children(node)))


def _label(node: ast.AST, own: frozenset[str]) -> str:
    kind = "Assign" if isinstance(node, ast.AnnAssign) else type(node).__name__
    match node:
        case ast.Constant(value=value):
            return "number" if isinstance(value, (int, float, complex)) else type(value).__name__
        case ast.JoinedStr():
            return "str"
        case ast.Name(id=name) if name in _BUILTINS and name not in own:
            return name
        case ast.Attribute(attr=name) | ast.FunctionDef(name=name) if name not in own:
            return f"{kind} {name}"
    return kind


def _children(node: ast.AST) -> list[ast.AST | str]:
    """Return what counts of a node's parts, and a mark where a block ends."""
    match node:
        case ast.Import() | ast.ImportFrom():
            return []
        case ast.JoinedStr(values=values):
            return [part for part in values if isinstance(part, ast.FormattedValue)]
        case ast.FunctionDef() | ast.ClassDef():
            head = [*node.decorator_list, *(node.args.defaults if isinstance(node, ast.FunctionDef) else ())]
            own = [part for part in _without_docstring(node.body) if not _is_usual(part)]
            return [*head, *own, "end"]
        case ast.AnnAssign(target=target, value=value):
            return [target, *([value] if value else [])]
        case _:
            return list(ast.iter_child_nodes(node))


def _without_docstring(body: Sequence[ast.stmt]) -> Sequence[ast.stmt]:
    match body:
        case [ast.Expr(value=ast.Constant(value=str())), *rest]:
            return rest
    return body


def _is_usual(part: ast.stmt) -> bool:
    """Say whether a statement is the same in every design of its kind: it tells nothing of this one."""
    return isinstance(part, (ast.FunctionDef, ast.Expr)) and ast.dump(part) in _USUAL


def _runs(parts: Sequence[str], length: int) -> frozenset[bytes]:
    count = max(1, len(parts) - length + 1) if parts else 0
    return frozenset("\0".join(parts[at : at + length]).encode() for at in range(count))


def _hash(data: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")


_USUAL = frozenset(
    ast.dump(ast.parse(text).body[0])
    for text in (
        "super().reset(seed=seed)",
        "def goal_reached(self, answer):\n    return str(answer) == str(self._answer)",
        'def expert_action(self):\n    return {"name": "finish", "arguments": {"answer": self._answer}}',
    )
)
"""What the contract asks for, and the two methods of an environment that asks one question."""

# Fixed for good, and independent of any generator's version: stored sketches must stay comparable.
_FACTORS = np.array([_hash(b"factor %d" % k) | 1 for k in range(256)], dtype=np.uint64)
_TERMS = np.array([_hash(b"term %d" % k) for k in range(256)], dtype=np.uint64)
