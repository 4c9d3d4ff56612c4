"""Ways to pass an old design off as a new one: each takes a source and returns a copy of it."""

from __future__ import annotations

import ast
import copy
import random
import re
from collections.abc import Callable, Iterator

from spade_envs.admission.shingles import _own_names
from spade_envs.contract.header import body

FIXED = """self cls difficulty render_mode seed options action action_names action_space observation_space
    metadata np_random answer __init__ __post_init__ __len__ __call__ np gym spaces"""


def head(source: str) -> str:
    """Return what stands above the code."""
    return source[: source.index(body(source)[:40])]


def reformatted(source: str) -> str:
    """Another layout, without comments."""
    return head(source) + ast.unparse(ast.parse(source)) + "\n"


def renamed(source: str) -> str:
    """Every name that the source gives is another one, and the class has other rules and another title."""
    tree = ast.parse(source)
    fixed = set(FIXED.split()) | set(_imported(tree)) | set(_of_tools(tree))
    fixed |= {name for name in _own_names(tree) if name.startswith(("tool_", "__"))}
    names = {name: f"other{k}" for k, name in enumerate(sorted(_own_names(tree) - fixed))}
    new = _Renamer(names).visit(tree)
    title = re.sub(r'(# title = )".*"', r'\1"Something else"', head(source))
    title = re.sub(r'(# id = "spade/)', r"\1Other", title)
    return title + ast.unparse(ast.fix_missing_locations(new)) + "\n"


def reordered(source: str) -> str:
    """Methods and functions stand in the opposite order."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            methods = [n for n in node.body if isinstance(n, ast.FunctionDef) and not n.decorator_list]
            node.body = [n for n in node.body if n not in methods] + methods[::-1]
    return head(source) + ast.unparse(tree) + "\n"


def padded(source: str) -> str:
    """As much code again stands beside it, which does nothing for the task."""
    lines = [f"def spare_{k}(rows, way={k}):" for k in range(40)]
    tails = (
        "return [row * way for row in rows]",
        "while rows:\n        way += rows.pop()\n    return way",
        "return sorted(rows, key=lambda row: -row)[:way] or {way: rows}",
    )
    return source + "\n\n" + "\n\n".join(f"{line}\n    {tails[k % 3]}" for k, line in enumerate(lines)) + "\n"


def reworded(source: str) -> str:
    """The rules and the title are told in other words."""
    tree = ast.parse(source)
    rng = random.Random(len(source))
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and ast.get_docstring(node):
            words = ast.get_docstring(node).split()
            rng.shuffle(words)
            node.body[0].value.value = " ".join(words)  # type: ignore[attr-defined]
    return re.sub(r'(# title = )".*"', r'\1"Another tale"', head(source)) + ast.unparse(tree) + "\n"


DISGUISES: dict[str, Callable[[str], str]] = {
    "reformatted": reformatted,
    "renamed": renamed,
    "reordered": reordered,
    "reworded": reworded,
    "padded": padded,
    "all of these": lambda source: padded(reworded(reordered(renamed(source)))),
}


def other_constants(source: str) -> Iterator[str]:
    """Yield copies in which one number of the module's or of the constructor's is greater by one."""
    tree = ast.parse(source)
    places = [n for n in tree.body if isinstance(n, ast.Assign)]
    places += [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == "__init__"]  # type: ignore[misc]
    numbers = [n for place in places for n in ast.walk(place) if isinstance(n, ast.Constant)]
    for number in numbers:
        if type(number.value) is int and number.value >= 3:
            number.value += 1
            yield head(source) + ast.unparse(copy.deepcopy(tree)) + "\n"
            number.value -= 1


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]


def _of_tools(tree: ast.AST) -> Iterator[str]:
    """The parameters of tools: an agent writes them, and docstrings name them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("tool_"):
            yield from (argument.arg for argument in node.args.args)


class _Renamer(ast.NodeTransformer):
    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.Call):  # the keywords of a library's function are its own
            called = getattr(node.func, "id", getattr(node.func, "attr", ""))
            for keyword in node.keywords if called in self.names else ():
                keyword.arg = self.names.get(keyword.arg or "", keyword.arg)
        for field in ("id", "attr", "name", "arg") if not isinstance(node, ast.keyword) else ():
            name = getattr(node, field, None)
            if isinstance(name, str) and not isinstance(node, ast.alias):
                setattr(node, field, self.names.get(name, name))
        if isinstance(node, ast.Global | ast.Nonlocal):
            node.names = [self.names.get(name, name) for name in node.names]
        return super().generic_visit(node)
