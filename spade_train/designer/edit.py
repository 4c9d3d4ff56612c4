"""Designing by changes: of one stored environment, some methods are written anew."""

from __future__ import annotations

import ast
import textwrap
import tomllib
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from spade_envs import Finding, Header, Rejection, parse_header
from spade_envs.errors import UsageError
from spade_train.designer import prompts, requestion
from spade_train.designer.context import DesignContext, Draft, Message
from spade_train.designer.headers import Facts, retitled
from spade_train.designer.mends import mend
from spade_train.designer.parents import Known, chosen, shown_code, source_of, stored
from spade_train.designer.splicing import splice
from spade_train.designer.syntax import class_of, methods_of
from spade_train.designer.window import Window

CONSTANT_LENGTH = 160
"""The most characters that a small model is shown of a constant."""


@dataclass(frozen=True, slots=True)
class Mutation:
    """One kind of change.

    Attributes:
        name: joins the parent's in the new id.
        methods: beginnings of names of methods; the class must have one that begins so.
        ask: what the model is told to do; ``{draws}`` stands for the method's calls that draw by numbers.
        contains: texts of which the method must hold one.
        hard: whether small models are not asked for it.
        variant: whether it leaves all but numbers as they were: asked for where nothing else can be.
    """

    name: str
    methods: tuple[str, ...]
    ask: str
    contains: tuple[str, ...] = ()
    hard: bool = False
    variant: bool = False

    def of(self, source: str) -> tuple[str, ...]:
        """Return the methods of a source that the change begins with."""
        owner = class_of(ast.parse(source))
        found = methods_of(owner) if owner else {}
        return tuple(
            name for name, node in found.items() if name.startswith(self.methods) and self._suits(node)
        )

    def asked(self, source: str, name: str) -> str:
        """Return what is asked for, with the draws of the method of this name."""
        owner = class_of(ast.parse(source))
        assert owner is not None  # `of` has found the method in it
        return self.ask.replace("{draws}", " and ".join(f"`{one}`" for one in draws(methods_of(owner)[name])))

    def _suits(self, method: ast.FunctionDef) -> bool:
        text = ast.unparse(method)
        held = not self.contains or any(one in text for one in self.contains)
        return held and ("{draws}" not in self.ask or bool(draws(method)))


def draws(method: ast.FunctionDef) -> list[str]:
    """Return the calls of a method that draw or count by numbers, as they read, the first three."""
    calls = (node for node in ast.walk(method) if isinstance(node, ast.Call) and _draws(node))
    return list(dict.fromkeys(ast.unparse(node).removeprefix("self.np_random.") for node in calls))[:3]


def _draws(call: ast.Call) -> bool:
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    numbers = [isinstance(arg, ast.Constant) and isinstance(arg.value, int) for arg in call.args]
    return name in ("integers", "range") and bool(numbers) and all(numbers)


@cache
def mutations() -> tuple[Mutation, ...]:
    """Return every kind of change that an edit may be asked for."""
    path = Path(__file__).parent / "texts" / "mutations.toml"
    read = tomllib.loads(path.read_text("utf-8"))
    return tuple(
        Mutation(
            name,
            tuple(one["methods"]),
            one["ask"],
            tuple(one.get("contains", ())),
            one.get("hard", False),
            one.get("variant", False),
        )
        for name, one in read.items()
    )


@dataclass(frozen=True, slots=True)
class EditDesigner:
    """Asks for changed methods of one stored environment, which are put into its source.

    Attributes:
        brief: whether the prompt is made for a small model: where it can be, another question in a world that stays
            (:mod:`spade_train.designer.requestion`); else only changes that such a one can make.
        known: what may be changed.
        window: the prompt's size; larger environments are not asked about.
    """

    brief: bool = False
    known: Known = stored
    window: Window = field(default_factory=Window)
    way: str = "edit"

    def prepare(self, context: DesignContext) -> DesignContext:
        """Return the context with the one parent that is to be changed: a wished one, if any is known.

        For a small model it is one that another question can be asked of, where there is a choice.

        Raises:
            UsageError: nothing is known that fits the window.
        """
        better = requestion.suits if self.brief else None
        return replace(context, parents=chosen(self.known(), context, self.fits, 1, better))

    def preface(self, context: DesignContext) -> None:
        """Return None: there is one question."""

    def prompt(self, context: DesignContext) -> list[Message]:
        """Return the chat that asks for changed methods of the parent.

        Raises:
            UsageError: the parent is gone, or the window does not hold it.
        """
        choice = self._choice(context)
        if choice is None:
            raise UsageError(f"{context.parents[0]}, which was to be changed, is in no registry any more.")
        source, mutation = choice
        if mutation is None:
            return requestion.chat(source, context, self.window)
        methods = mutation.of(source)
        ask = mutation.asked(source, methods[0])
        if self.brief:
            return prompts.edit_brief(part_of(source, methods[0]), ask, context, self.window)
        return prompts.edit(shown_code(source), ask, methods, context, self.window)

    def schema(self) -> None:
        """Return None: methods are free text."""

    def read(self, reply: str, context: DesignContext) -> Draft | Rejection:
        """Return the parent's source with the reply's methods in it, under a header of its own."""
        choice = self._choice(context)
        if choice is None:
            gone = f"{context.parents[0]}, which was to be changed, is in no registry any more."
            return Rejection((Finding("splice.parent", gone, "Change another one."),))
        source, mutation = choice
        facts = Facts(context.round, parent=context.parents[0])
        if mutation is None:
            return requestion.written(source, reply, facts)
        spliced = splice(source, reply)
        if isinstance(spliced, Rejection):
            return spliced
        header = parse_header(source)
        assert isinstance(header, Header)  # it stands in a registry
        title = f"{header.title}, {mutation.name}"
        named = retitled(spliced.source, f"{header.id.name}{mutation.name.title()}", title)
        mended = mend(named, facts)
        return Draft(mended.source, tuple(name for name in mended.mends if name != "header"))

    def quoted(self, context: DesignContext) -> tuple[str, ...]:  # noqa: ARG002
        """Return what worked examples show; the parent is stored, and named as one."""
        return requestion.quoted() if self.brief else ()

    def _choice(self, context: DesignContext) -> tuple[str, Mutation | None] | None:
        source = source_of(context.parents[0], self.known())
        if source is None:
            return None
        if self._requestions(source):
            return source, None
        return source, context.own_rng("mutation").choice(self._mutations(source))

    def fits(self, source: str) -> bool:
        """Say whether a source can be changed, and shown within the window."""
        told = self.window.tokens // 3  # of the rest: the rules, the document and what is told
        fits = self.window.count(shown_code(source)) <= self.window.tokens - told
        return fits and (self._requestions(source) or bool(self._mutations(source)))

    def _mutations(self, source: str) -> list[Mutation]:
        fitting = [one for one in mutations() if one.of(source) and not (self.brief and one.hard)]
        return [one for one in fitting if not one.variant] or fitting

    def _requestions(self, source: str) -> bool:
        return self.brief and requestion.suits(source)


def part_of(source: str, name: str) -> prompts.Part:
    """Return one method of a source's class with what must be known to write it anew."""
    tree = ast.parse(source)
    owner = class_of(tree)
    assert owner is not None  # a mutation has found the method in it
    method = methods_of(owner)[name]
    lines = source.splitlines()[method.lineno - 1 : method.end_lineno]
    constants = (_shown(node) for node in tree.body if isinstance(node, ast.Assign))
    sets = (
        f"self.{node.attr}"
        for node in ast.walk(method)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    )
    rules = " ".join((ast.get_docstring(owner) or "").split())
    return prompts.Part(
        name, textwrap.dedent("\n".join(lines)), rules, "\n".join(constants), tuple(dict.fromkeys(sets))
    )


def _shown(constant: ast.Assign) -> str:
    """Return a constant in one line, cut where it is long."""
    text = ast.unparse(constant)
    return text if len(text) <= CONSTANT_LENGTH else f"{text[:CONSTANT_LENGTH]} ..."
