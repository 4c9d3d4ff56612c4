"""Whole methods from a reply put into a source by its syntax tree; every other line stays as it is."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from spade_envs import Finding, Rejection, code_blocks
from spade_train.designer.syntax import class_of, methods_of

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_INDENT = "    "
MOST_CHARACTERS, MOST_PIECES = 32_768, 50
"""The most that a reply may hold: what is larger is no change, and would take long to put in."""


@dataclass(frozen=True, slots=True)
class Spliced:
    """A source with methods put in.

    Attributes:
        changed: names of what differs from before.
    """

    source: str
    changed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Piece:
    """One definition of a reply: its name, its text without indentation, and whether the class holds it."""

    name: str
    text: str
    inside: bool


def splice(source: str, reply: str) -> Spliced | Rejection:
    """Put the definitions in a reply's code blocks into a source.

    Methods (of a class, or functions that take ``self``) replace or join those of the environment's class; other
    functions, classes, constants and imports replace or join those of the module. Of two definitions of one name, the
    later counts.

    Args:
        source: a file that parses, with one class that has ``reset``.
        reply: what a model said.
    """
    try:
        return _spliced(source, reply)
    except RecursionError as error:  # what parses may still be too deep to be compared
        return Rejection((fault_of(error),))


def _spliced(source: str, reply: str) -> Spliced | Rejection:
    blocks = code_blocks(reply)
    if isinstance(blocks, Rejection):
        return blocks
    if sum(map(len, blocks)) > MOST_CHARACTERS:
        large = f"The reply's code has more than {MOST_CHARACTERS:,} characters."
        return Rejection((Finding("splice.size", large, "Write only the methods that change."),))
    found: dict[tuple[str, bool], _Piece] = {}
    for block in blocks:
        tree = _parsed(block)
        if isinstance(tree, Rejection):
            return tree
        found.update({(piece.name, piece.inside): piece for piece in _pieces(*tree, source)})
    if not found:
        finding = Finding(
            "splice.nothing", "The reply defines no method.", "Write each method whole, from `def`."
        )
        return Rejection((finding,))
    if len(found) > MOST_PIECES:
        much = f"The reply defines {len(found)} things; at most {MOST_PIECES} may change."
        return Rejection((Finding("splice.many", much, "Write only the methods that change."),))
    before, changed = source, []
    for piece in found.values():
        after = _put(source, piece)
        if ast.dump(ast.parse(after)) != ast.dump(ast.parse(source)):
            changed.append(piece.name)
            source = after
    if not changed or ast.dump(ast.parse(source)) == ast.dump(ast.parse(before)):
        finding = Finding("splice.unchanged", "The reply changes nothing.", "Change at least one method.")
        return Rejection((finding,))
    return Spliced(source, tuple(changed))


def _parsed(block: str) -> tuple[ast.Module, str] | Rejection:
    """Return a block's tree and the text that it is of; methods may stand indented as in their class."""
    text = textwrap.dedent(block.expandtabs(4)).strip("\n") + "\n"
    faults = []
    for attempt in (text, f"class _:\n{textwrap.indent(text, _INDENT)}", _level(text)):
        try:
            return ast.parse(attempt), attempt
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            faults.append(fault_of(error))
    return Rejection((faults[0],))


def _level(text: str) -> str:
    """Return the text with its first line as deep as the second ``def``: the first one often loses its indent."""
    lines = text.splitlines(keepends=True)
    depth = next((len(one) - len(one.lstrip()) for one in lines[1:] if one.lstrip().startswith("def ")), 0)
    return textwrap.dedent("".join([" " * depth + lines[0], *lines[1:]])) if lines else text


def fault_of(error: BaseException) -> Finding:
    """Return the finding for code that does not parse."""
    line = getattr(error, "lineno", None)
    found = f"The code does not parse: {getattr(error, 'msg', None) or type(error).__name__}."
    return Finding("splice.syntax", found, "Write whole methods in Python.", line)


def _pieces(tree: ast.Module, text: str, source: str) -> Iterator[_Piece]:
    held, lines = ast.parse(source), text.splitlines()
    main = class_of(held)
    others = {node.name for node in held.body if isinstance(node, ast.ClassDef)} - {main.name if main else ""}
    for node in tree.body:
        if (
            isinstance(node, ast.ClassDef)
            and node.name not in others
            and (main is None or _is_env(node, main))
        ):
            for part in node.body:
                if (name := _name(part)) is not None:
                    yield _Piece(name, _text(part, lines), inside=True)
        elif (name := _name(node)) is not None:
            takes_self = isinstance(node, _Function) and [a.arg for a in node.args.args[:1]] == ["self"]
            yield _Piece(name, _text(node, lines), inside=takes_self)


def _is_env(node: ast.ClassDef, main: ast.ClassDef) -> bool:
    """Whether a reply's class stands for the environment's: by its name, its bases, or a method that both have."""
    return (
        node.name in ("_", main.name)
        or bool(node.bases)
        or not set(methods_of(node)).isdisjoint(set(methods_of(main)) - {"__init__"})
    )


def _name(node: ast.stmt) -> str | None:
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return name
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name
        case ast.Import() | ast.ImportFrom():
            return ast.unparse(node)
    return None


def first_line(node: ast.stmt) -> int:
    """Return the line on which a statement begins, its decorators among it."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(one.lineno for one in decorators)])


def _text(node: ast.stmt, lines: Sequence[str]) -> str:
    return textwrap.dedent("\n".join(lines[first_line(node) - 1 : node.end_lineno]))


def _put(source: str, piece: _Piece) -> str:
    """Return the source with a piece in the place of what has its name, or where such pieces go."""
    tree = ast.parse(source)
    owner = class_of(tree)
    assert owner is not None  # its caller gives a source with such a class
    body = owner.body if piece.inside else tree.body
    text = textwrap.indent(piece.text, _INDENT) if piece.inside else piece.text
    lines = source.splitlines()
    old = next((node for node in body if _name(node) == piece.name), None)
    if old is not None:
        lines[first_line(old) - 1 : old.end_lineno] = text.splitlines()
    elif piece.inside and not re.match(r"\s*(def|@)", text):  # an attribute goes before the methods
        place = first_line(next(node for node in body if isinstance(node, ast.FunctionDef))) - 1
        lines[place:place] = [*text.splitlines(), ""]
    elif piece.inside:
        end = owner.end_lineno or len(lines)
        lines[end:end] = ["", *text.splitlines()]
    else:
        imported = re.match(r"(import|from) ", text)
        before = next(iter(tree.body), owner) if imported else owner
        place = first_line(before) - 1
        lines[place:place] = text.splitlines() if imported else [*text.splitlines(), "", ""]
    return "\n".join(lines) + "\n"
