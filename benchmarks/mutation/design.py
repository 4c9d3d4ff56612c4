"""A design as text and syntax tree, and the ways to change one place of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from textwrap import indent

_END = re.compile(r"^# ///\s*$", re.MULTILINE)
_WRITTEN = "_written_step"

_STEP = """
def step(self, action):
    self._turns += 1
{before}
    observation, reward, terminated, truncated, info = {call}(action)
{after}
    return observation, reward, terminated, truncated, info
"""

Change = Callable[[ast.AST], Iterable[ast.AST | None]]


@dataclass(frozen=True, slots=True)
class Design:
    """A source, split behind its header.

    Attributes:
        name: of the seed from which it comes.
        header: its lines up to the closing mark, that included.
        body: the code.
    """

    name: str
    header: str
    body: str

    @classmethod
    def of(cls, name: str, source: str) -> Design:
        """Split a source whose header closes with ``# ///``."""
        end = next(iter(_END.finditer(source))).end()
        return cls(name, source[:end], source[end:])

    @property
    def source(self) -> str:
        """The whole file."""
        return f"{self.header}\n{self.body.strip()}\n"

    def tree(self) -> ast.Module:
        """Return the code's syntax tree, made anew."""
        return ast.parse(self.body)

    def with_tree(self, tree: ast.Module) -> Design:
        """Return the design with other code."""
        return Design(self.name, self.header, ast.unparse(ast.fix_missing_locations(tree)))

    def with_key(self, key: str, value: str) -> Design:
        """Return the design with another value in its header, written as TOML."""
        return Design(self.name, re.sub(rf"(?m)^# {key} = .*$", f"# {key} = {value}", self.header), self.body)

    def key(self, name: str) -> str:
        """Return a header's value as it is written, empty where the key is missing."""
        found = re.search(rf"(?m)^# {name} = (.*)$", self.header)
        return found[1] if found else ""

    @property
    def limit(self) -> int:
        """The time limit in steps."""
        return int(self.key("max_episode_steps"))

    @property
    def level_count(self) -> int:
        """The number of difficulty levels, 1 where there are none."""
        return int(self.key("difficulty_levels") or 1)

    @property
    def has_tools(self) -> bool:
        """Whether its actions are tool calls."""
        return "(ToolEnv)" in self.body


def environment(tree: ast.Module) -> ast.ClassDef:
    """Return the environment class."""
    return next(c for c in tree.body if isinstance(c, ast.ClassDef) and {"reset"} <= methods(c).keys())


def methods(owner: ast.ClassDef) -> dict[str, ast.FunctionDef]:
    """Return a class's methods by name."""
    return {part.name: part for part in owner.body if isinstance(part, ast.FunctionDef)}


def parsed(text: str) -> list[ast.stmt]:
    """Return the statements of a text."""
    return ast.parse(text.strip("\n")).body


def edited(design: Design, edit: Callable[[ast.ClassDef], bool | None]) -> Iterator[Design]:
    """Yield the design after an edit of its environment class; nothing where the edit returns False."""
    tree = design.tree()
    if edit(environment(tree)) is not False:
        yield design.with_tree(tree)


def prepend(owner: ast.ClassDef, name: str, text: str) -> bool:
    """Put statements at a method's beginning, behind its docstring and ``super()``'s call."""
    method = methods(owner).get(name)
    if method is None:
        return False
    at = sum(_is_preamble(part) for part in method.body[:2])
    method.body[at:at] = parsed(text)
    return True


def prepended(design: Design, name: str, text: str) -> Iterator[Design]:
    """Yield the design with statements at a method's beginning; nothing where it has no such method."""
    return edited(design, lambda owner: prepend(owner, name, text))


def _is_preamble(part: ast.stmt) -> bool:
    return isinstance(part, ast.Expr) and (
        isinstance(part.value, ast.Constant) or ast.unparse(part).startswith("super().")
    )


def around_step(design: Design, *, before: str = "", after: str = "", reset: str = "") -> Iterator[Design]:
    """Yield the design with statements around its step; ``self._turns`` counts an episode's steps."""

    def edit(owner: ast.ClassDef) -> None:
        own = methods(owner).get("step")
        if own is not None:
            own.name = _WRITTEN
        call = "super().step" if own is None else f"self.{_WRITTEN}"
        text = _STEP.format(before=indent(before, "    "), after=indent(after, "    "), call=call)
        prepend(owner, "reset", f"self._turns = 0\n{reset}")
        owner.body += parsed(text)

    return edited(design, edit)


def variants(design: Design, change: Change, where: Callable[[str], bool] | None = None) -> Iterator[Design]:
    """Yield a design for each node that a change replaces (by None: deletes), one node at a time.

    Args:
        design: the design.
        change: yields replacements of a node; it must leave the node itself as it is.
        where: which of the environment's methods are changed; all code of the file where missing.
    """
    tree = design.tree()
    own = methods(environment(tree))
    scopes = [tree] if where is None else [method for name, method in own.items() if where(name)]
    for node in [node for scope in scopes for node in ast.walk(scope)]:
        for new in change(node):
            mark = new if new is not None else ast.Pass()
            _Swap(node, mark).visit(tree)
            yield design.with_tree(tree)
            _Swap(mark, node).visit(tree)


class _Swap(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else self.generic_visit(node)
