"""Mends: small mechanical corrections of what models write by habit, each with a name that goes on record.

A mend never changes the rules of a game: it writes down what the code already means (``randint`` of another generator,
a forgotten ``super().reset``), or states facts that are not the model's to choose (the header's origin and round).
A source to which no mend applies comes back character for character.
"""

from __future__ import annotations

import ast
import difflib
import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from spade_train.designer.splicing import class_of, methods_of

DOMAINS = ("games", "math", "science", "code", "planning", "language", "tools")
LICENSE = "Apache-2.0"
_HEADER = re.compile(
    r"^# /// spade[ \t]*\n(?P<keys>(?:#(?! ///).*\n)*)(?:#?[ \t]*///?[ \t]*$|(?=[^#])|\Z)", re.MULTILINE
)
"""From its first mark to the last, which models misspell or leave out."""
_CHOSEN = ("id", "title", "summary", "domain", "skills", "max_episode_steps", "difficulty_levels")
_IMPORTS = {
    "ToolEnv": "from spade_envs import ToolEnv",
    "run_program": "from spade_envs import run_program",
    "gym": "import gymnasium as gym",
    "spaces": "from gymnasium import spaces",
    "np": "import numpy as np",
}
_DRAWS = {"randint": "integers", "random_integers": "integers", "rand": "random", "randn": "standard_normal"}
_PLAIN_DRAWS = ("sample", "choices", "randrange")  # of Python's random, not of NumPy's generator


@dataclass(frozen=True, slots=True)
class Facts:
    """What the header says and no model chooses."""

    round: int
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class Mended:
    """A source and the names of the mends that changed it, in order."""

    source: str
    mends: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Change:
    """Bytes from ``start`` to ``end`` become ``text``."""

    start: int
    end: int
    text: str


class _Code:
    """A source that parses, with the places of its nodes in bytes."""

    def __init__(self, source: str) -> None:
        self.tree, self.data = ast.parse(source), source.encode()
        self._starts = [0, *(found.end() for found in re.finditer(rb"\n", self.data))]
        self.owner = class_of(self.tree)
        self.methods = methods_of(self.owner) if self.owner else {}

    def start(self, node: ast.expr | ast.stmt) -> int:
        return self._starts[node.lineno - 1] + node.col_offset

    def end(self, node: ast.expr | ast.stmt) -> int:
        return self._starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)

    def insert(self, node: ast.stmt, text: str) -> _Change:
        """Put a line before a statement, as deep as it."""
        at = self.start(node)
        return _Change(at, at, f"{text}\n{' ' * node.col_offset}")


Mend = Callable[[_Code], Iterator[_Change]]


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


def with_facts(source: str, facts: Facts) -> str:
    """Return the source with a header whose form and facts are right; what the model chose stays where it can.

    Id, title and summary are taken from the class where they are missing. A key that is none is left out, tags become
    lower case, texts are cut to their lengths, and of the id its name is kept. A last mark that is misspelt or missing
    is written; a source without the first is left as it is.
    """
    found = _HEADER.search(source)
    if found is None:
        return source
    tree = _tree(source)
    keys = {**(_from_code(tree) if tree else {}), **dict(_keys(found["keys"]))}
    levels = tree is not None and _takes_difficulty(tree)
    written = _header({name: keys[name] for name in _CHOSEN if name in keys}, facts, levels)
    rest = source[found.end() :]
    return source[: found.start()] + written + (rest if rest.startswith("\n") else f"\n{rest}")


def retitled(source: str, name: str, title: str) -> str:
    """Return the source with another name in its id, and another title."""
    source = re.sub(r"^# id = .*$", f'# id = "spade/{name}-v0"', source, count=1, flags=re.MULTILINE)
    return re.sub(
        r"^# title = .*$",
        f"# title = {_toml(title[:60])}".replace("\\", r"\\"),
        source,
        count=1,
        flags=re.MULTILINE,
    )


def _keys(block: str) -> Iterator[tuple[str, Any]]:
    """Yield what each line says by itself; one that is no TOML is passed over."""
    for line in block.splitlines():
        try:
            yield from tomllib.loads(line.removeprefix("#").strip()).items()
        except (tomllib.TOMLDecodeError, RecursionError):
            continue


def _header(keys: dict[str, Any], facts: Facts, levels: bool) -> str:
    chosen = {name: _chosen(name, value) for name, value in keys.items()}
    if not levels:
        chosen.pop("difficulty_levels", None)
    said = {name: value for name, value in chosen.items() if value is not None}
    parent = {"parent": facts.parent} if facts.parent else {}
    stated = {"origin": "generated", **parent, "generation_round": facts.round}
    ordered: dict[str, Any] = {
        name: said[name] for name in ("id", "title", "summary", "domain", "skills") if name in said
    }
    ordered |= stated | {n: said[n] for n in ("max_episode_steps", "difficulty_levels") if n in said}
    ordered |= {"license": LICENSE, "contract": 1}
    return "\n".join(
        ["# /// spade", *(f"# {name} = {_toml(value)}" for name, value in ordered.items()), "# ///"]
    )


def _chosen(name: str, value: Any) -> Any:
    """Return a key's value in the form that the contract wants; None where nothing can be made of it."""
    match name, value:
        case "id", str():
            words = re.findall(r"[A-Za-z0-9]+", re.sub(r"-v\d+$", "", value.rsplit("/", 1)[-1]))
            camel = "".join(word[:1].upper() + word[1:] for word in words).lstrip("0123456789")
            return f"spade/{camel}-v0" if camel else None
        case "title", str():
            return " ".join(value.split())[:60].strip() or None
        case "summary", str():
            return " ".join(value.split())[:200].strip() or None
        case "domain", str():
            near = difflib.get_close_matches(value.lower(), DOMAINS, 1)
            return near[0] if near else value
        case "skills", list() | str():
            tags = [
                re.sub(r"[^a-z0-9 _+#./-]", "", str(tag).lower()).strip(" _./-")[:40]
                for tag in ([value] if isinstance(value, str) else value)
            ]
            return list(dict.fromkeys(tag for tag in tags if tag))[:6] or None
    return value


def _toml(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return str(value).lower() if isinstance(value, bool) else str(value)


def _from_code(tree: ast.Module) -> dict[str, Any]:
    """Return what the class's name and docstring say in place of a header's."""
    owner = class_of(tree)
    if owner is None:
        return {}
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", owner.name)
    rules = re.split(r"(?<=[.!?])\s", " ".join((ast.get_docstring(owner) or "").split()))[0]
    said = {"id": f"spade/{owner.name}-v0", "title": " ".join(words).capitalize()}
    return said | ({"summary": rules} if rules else {})


def _takes_difficulty(tree: ast.Module) -> bool:
    owner = class_of(tree)
    start = methods_of(owner).get("__init__") if owner else None
    return start is not None and "difficulty" in [a.arg for a in (*start.args.args, *start.args.kwonlyargs)]


def _generator_name(code: _Code) -> Iterator[_Change]:
    """``self.np.random``, which is meant to be ``self.np_random``."""
    for node in ast.walk(code.tree):
        match node:
            case ast.Attribute(attr="random", value=ast.Attribute(attr="np", value=ast.Name(id="self"))):
                yield _Change(code.start(node), code.end(node), "self.np_random")


def _generator_calls(code: _Code) -> Iterator[_Change]:
    """``self.np_random.randint`` and other methods that a NumPy generator does not have."""
    for node in ast.walk(code.tree):
        match node:
            case ast.Attribute(attr=name, value=ast.Attribute(attr="np_random")) if name in _DRAWS:
                yield _Change(code.end(node) - len(name), code.end(node), _DRAWS[name])
            case ast.Attribute(attr=name, value=ast.Attribute(attr="np_random")) if name in _PLAIN_DRAWS:
                yield _Change(code.start(node), code.end(node), f"random.{name}")


def _reset_arguments(code: _Code) -> Iterator[_Change]:
    """``reset`` without ``seed`` or ``options``, which Gymnasium passes."""
    reset = code.methods.get("reset")
    if reset is None:
        return
    arguments = reset.args
    if {"seed", "options"} <= {a.arg for a in (*arguments.args, *arguments.kwonlyargs)} or arguments.kwarg:
        return
    head = re.compile(rb"def\s+reset\s*\(([^()]*)\)").search(code.data, code.start(reset))
    if head is not None:
        yield _Change(head.start(1), head.end(1), "self, *, seed=None, options=None")


def _super_reset(code: _Code) -> Iterator[_Change]:
    """``reset`` that does not seed the generator it draws from."""
    reset = code.methods.get("reset")
    if reset is None or any(_is_super_reset(node) for node in ast.walk(reset)):
        return
    first = reset.body[1:] if ast.get_docstring(reset) is not None else reset.body
    if first:
        yield code.insert(first[0], "super().reset(seed=seed)")


def _is_super_reset(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "reset" and isinstance(node.value, ast.Call)


def _reset_pair(code: _Code) -> Iterator[_Change]:
    """``reset`` that returns the observation alone, where Gymnasium wants ``observation, {}``."""
    reset = code.methods.get("reset")
    for node in _own_returns(reset) if reset else ():
        if node.value is not None and not isinstance(node.value, ast.Tuple):
            yield _Change(code.end(node.value), code.end(node.value), ", {}")


def _own_returns(function: ast.FunctionDef) -> Iterator[ast.Return]:
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Return):
            yield node
        elif not isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            waiting.extend(ast.iter_child_nodes(node))


def _imports(code: _Code) -> Iterator[_Change]:
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


MENDS: dict[str, Mend] = {
    "generator-name": _generator_name,
    "generator-calls": _generator_calls,
    "reset-arguments": _reset_arguments,
    "super-reset": _super_reset,
    "reset-pair": _reset_pair,
    "imports": _imports,
}
"""Every mend of the code by its name, in the order in which they are tried; ``header`` comes last."""


def _applied(source: str, change: Mend) -> str:
    if _tree(source) is None:
        return source
    code = _Code(source)
    data = code.data
    for one in sorted(change(code), key=lambda one: one.start, reverse=True):
        data = data[: one.start] + one.text.encode() + data[one.end :]
    return data.decode()


def _tree(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
