"""The docstrings of a Python source as texts. The source is parsed, never imported."""

from __future__ import annotations

import ast
import inspect
import re
import warnings
from collections.abc import Iterator

from spade_train.corpus.document import sound

_DROPPED = {
    *("parameters", "other parameters", "args", "arguments", "keyword args", "keyword arguments", "kwargs"),
    *("returns", "return", "yields", "receives", "raises", "warns", "warnings", "attributes", "methods"),
    *("see also", "references", "authors", "author", "shape", "inputs", "outputs"),
}
"""Sections that list signatures and names: nothing to ground a design on."""

_UNDERLINE = re.compile(r"\s*[-=~]{3,}\s*")
_GOOGLE = re.compile(r"(\w[\w ]{2,24}):{1,2}\s*")
_FIELD = re.compile(
    r"\s*:(?:param|type|returns?|rtype|raises?|arg|keyword|ivar|cvar)\b"  # Sphinx
    r"|[\w*, ]+ \(`.*\):\s*$"  # transformers: name (`type`, *optional*):
)

_DEFINITIONS = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
_HOLDERS = ast.Module | _DEFINITIONS


def docstrings(source: bytes, module: str) -> Iterator[tuple[str, str]]:
    """Yield the dotted name and the prose of every docstring of a public name, in the order of the source.

    Raises:
        ValueError: it is no Python that this interpreter can parse.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of old sources' escapes
            tree = ast.parse(source)
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(f"it is no Python of this version ({error})") from error
    for name, node in _holders(tree, module):
        if (text := ast.get_docstring(node, clean=False)) and (found := prose(text)):
            yield name, sound(found)


def prose(docstring: str) -> str:
    """Return a docstring without its lists of parameters and of names, in NumPy's, Google's and Sphinx's style."""
    lines = inspect.cleandoc(docstring).splitlines()
    kept: list[str] = []
    dropping: str | None = None
    for number, line in enumerate(lines):
        if style := _section(lines, number):
            dropping = style if _title(line) in _DROPPED else None
        elif dropping == "block" and line.strip() and not line[0].isspace():
            dropping = None
        if _FIELD.match(line) and dropping is None:
            dropping = "block"
        if dropping is None:
            kept.append(line.rstrip())
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()


def _section(lines: list[str], number: int) -> str | None:
    """Return how a section that begins at a line ends: at the next ("section") or where indentation does ("block")."""
    line = lines[number]
    if not line.strip() or line[0].isspace():
        return None
    if number + 1 < len(lines) and _UNDERLINE.fullmatch(lines[number + 1]):
        return "section"
    return "block" if _GOOGLE.fullmatch(line) else None


def _title(line: str) -> str:
    return line.strip().rstrip(":").lower()


def _holders(tree: _HOLDERS, name: str) -> Iterator[tuple[str, _HOLDERS]]:
    """Yield whatever may have a docstring, functions within functions left out."""
    yield name, tree
    if isinstance(tree, ast.Module | ast.ClassDef):
        for node in _statements(tree.body):
            if isinstance(node, _DEFINITIONS) and not node.name.startswith("_"):
                yield from _holders(node, f"{name}.{node.name}")


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield statements with those inside of `if` and `try`, where definitions may stand, too."""
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try):
            yield from _statements(node.body)
            yield from _statements(node.orelse)
