"""Another question in the world of a stored environment: what a small model is asked for in the place of an edit.

A small model that is asked for a changed method puts other numbers in and changes nothing else. Told what to calculate,
and shown the few lines that are an environment's own, it writes a new one.
"""

from __future__ import annotations

import ast
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from spade_envs import Finding, Header, Rejection, code_blocks, parse_header, shared_trees
from spade_train.designer import answering, prompts
from spade_train.designer.context import DesignContext, Draft, Message
from spade_train.designer.headers import Facts, retitled, without_keys
from spade_train.designer.mends import mend
from spade_train.designer.parents import shown_code
from spade_train.designer.splicing import MOST_CHARACTERS, fault_of, first_line
from spade_train.designer.syntax import class_of, methods_of
from spade_train.designer.window import Window
from spade_train.designer.wording import calculations

NAME = "requestioned"
"""Joins the parent's name where the reply gives its class none of its own."""

MOST_SHARED = 0.5
"""What shares so much of its syntax tree with its parent is a variant, as the gate on novelty has it."""

_RULES = "Say in it what is given and asked now."
_OTHER = "Calculate the answer in another way."
_HEADER = '# /// spade\n# domain = "math"\n# skills = ["counting"]\n# max_episode_steps = 3\n# ///\n'


@dataclass(frozen=True, slots=True)
class Worked:
    """One worked example.

    Attributes:
        before: the class as it was.
        calculation: what the answer was to be.
        after: the reply.
    """

    before: str
    calculation: str
    after: str


@cache
def worked() -> tuple[Worked, ...]:
    """Return what is shown before another question is asked for."""
    path = Path(__file__).parent / "texts" / "requestions.toml"
    read = tomllib.loads(path.read_text("utf-8"))["worked"]
    return tuple(Worked(*(one[key].strip() for key in ("before", "calculation", "after"))) for one in read)


@cache
def quoted() -> tuple[str, ...]:
    """Return the worked examples as whole files: a copy of one is no design."""
    before = [mend(f"{_HEADER}{one.before}\n", Facts(0)).source for one in worked()]
    read = [written(source, one.after, Facts(0)) for source, one in zip(before, worked(), strict=True)]
    return (*before, *(draft.source for draft in read if isinstance(draft, Draft)))


def suits(source: str) -> bool:
    """Say whether a source does nothing but ask a question, so that another can take its place."""
    owner = class_of(ast.parse(source))
    own = {"reset", "hint", *answering.METHODS}
    return owner is not None and set(methods_of(owner)) == own and answering.is_added(source)


def chat(source: str, context: DesignContext, window: Window) -> list[Message]:
    """Return the chat that asks for another question in this source's world.

    Raises:
        UsageError: the window does not hold the source.
    """
    examples = [(one.before, one.calculation, one.after) for one in worked()]
    calculation = calculations().drawn(context.own_rng("calculation"))
    return prompts.requestion(examples, _shown(source), calculation, context, window)


def written(source: str, reply: str, facts: Facts) -> Draft | Rejection:
    """Return the file that a reply's class makes: what it needs of the old one above it, and a header of its own."""
    try:
        return _written(source, reply, facts)
    except RecursionError as error:  # what parses may still be too deep to be compared
        return Rejection((fault_of(error),))


def _written(source: str, reply: str, facts: Facts) -> Draft | Rejection:
    code = _code(reply)
    if isinstance(code, Rejection):
        return code
    old, new = class_of(ast.parse(source)), class_of(ast.parse(code))
    if new is None or old is None:
        none = Finding("splice.nothing", "The reply holds no class with `reset`.", "Write the class whole.")
        return Rejection((none,))
    if same := _same(old, new):
        return Rejection((same,))
    whole = "\n".join([_header_for(source, old.name, new.name), *_needed(source, code), "", "", code])
    mended = mend(f"{whole.strip()}\n", facts)
    header = parse_header(mended.source)
    if isinstance(header, Rejection):
        return header
    if shared_trees([source, mended.source])[0, 1] >= MOST_SHARED:
        near = Finding("splice.variant", "The class does what it did before, with other numbers.", _OTHER)
        return Rejection((near,))
    return Draft(mended.source, tuple(name for name in mended.mends if name not in ("header", "answering")))


def _same(old: ast.ClassDef, new: ast.ClassDef) -> Finding | None:
    """Return what a class has kept that had to change."""
    if ast.dump(old) == ast.dump(new):
        return Finding("splice.unchanged", "The reply changes nothing.", "Write another class.")
    if (rules := _rules(new)) and rules == _rules(old):
        return Finding("splice.rules", "The docstring still says what was asked before.", _RULES)
    return None


def _rules(owner: ast.ClassDef) -> str:
    return " ".join((ast.get_docstring(owner) or "").split())


def _shown(source: str) -> str:
    """Return a source's constants and class, without what is the same in every such class."""
    code = answering.without(shown_code(source))
    lines = code.splitlines()
    for node in ast.parse(code).body[::-1]:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            del lines[node.lineno - 1 : node.end_lineno]
    return "\n".join(lines).strip()


def _code(reply: str) -> str | Rejection:
    """Return the code of a reply, without a header, which is ours to write."""
    blocks = code_blocks(reply)
    if isinstance(blocks, Rejection):
        return blocks
    code = re.sub(r"^from __future__ .*\n?", "", "\n\n".join(map(shown_code, blocks)), flags=re.MULTILINE)
    if len(code) > MOST_CHARACTERS:
        large = f"The reply's code has more than {MOST_CHARACTERS:,} characters."
        return Rejection((Finding("splice.size", large, "Write one class."),))
    try:
        ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Rejection((fault_of(error),))
    return code


def _header_for(source: str, old: str, new: str) -> str:
    """Return a header in which the parent's facts stand; the new class gives the names, unless it has the parent's."""
    mark, header = re.search(r"^# ///[ \t]*$", source, re.MULTILINE), parse_header(source)
    assert mark is not None  # it is a stored file's
    assert isinstance(header, Header)
    head, name = source[: mark.end()], header.id.name
    if new in (name, old):
        return retitled(without_keys(head, "summary"), f"{name}{NAME.title()}", f"{name}, {NAME}")
    return without_keys(head, "id", "title", "summary")


def _needed(source: str, code: str) -> list[str]:
    """Return the statements above the old class that say something of a name which the code uses before it sets it."""
    wanted: set[str] = set()
    own: set[str] = set()
    for node in ast.parse(code).body:
        wanted |= _loads(node) - own
        own |= _sets(node)
    tree = ast.parse(source)
    lines, needed, old = source.splitlines(), [], class_of(tree)
    for node in reversed(tree.body):
        if node is not old and _sets(node) & wanted:
            wanted |= _loads(node)
            needed.append("\n".join(lines[first_line(node) - 1 : node.end_lineno]))
    return needed[::-1]


def _loads(node: ast.stmt) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}


def _sets(node: ast.stmt) -> set[str]:
    """Return the names that a statement of a module sets or changes."""
    match node:
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return {alias.asname or alias.name.partition(".")[0] for alias in names}
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Assign(targets=targets):
            return {one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)}
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
            return {one.id for one in ast.walk(target) if isinstance(one, ast.Name)}
    return set()
