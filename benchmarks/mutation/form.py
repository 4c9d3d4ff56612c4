"""Operators on the header and on what the class must have."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import partial

from mutation import oracles_form as reads
from mutation.design import Design, edited, environment, methods, parsed, prepended
from mutation.operator import Operator, family
from mutation.oracles_play import the_expert_fails
from mutation.oracles_reward import nothing_can_be_played

OPERATORS: list[Operator] = []
operator = family("form", OPERATORS)


@operator(reads.the_header_is_wrong)
def a_header_value_out_of_range(design: Design) -> Iterator[Design]:
    for key, value in (
        ("max_episode_steps", "0"),
        ("max_episode_steps", "5000"),
        ("domain", '"fun"'),
        ("skills", "[]"),
    ):
        yield design.with_key(key, value)


@operator(reads.the_header_is_wrong)
def a_header_key_misspelt(design: Design) -> Iterator[Design]:
    for key, wrong in (
        ("max_episode_steps", "max_steps"),
        ("difficulty_levels", "difficulties"),
        ("license", "licence"),
    ):
        yield Design(design.name, design.header.replace(f"# {key} =", f"# {wrong} ="), design.body)


@operator(nothing_can_be_played)
def one_level_too_many_in_the_header(design: Design) -> Iterator[Design]:
    yield design.with_key("difficulty_levels", str(design.level_count + 1))


@operator(the_expert_fails)
def time_limit_too_small(design: Design) -> Iterator[Design]:
    for limit in {design.limit // 2, design.limit // 3, 1, design.limit - 1} - {0, design.limit}:
        yield design.with_key("max_episode_steps", str(limit))


@operator(reads.there_are_no_rules)
def docstring_dropped(design: Design) -> Iterator[Design]:
    def drop(owner: ast.ClassDef) -> None:
        owner.body = owner.body[1:] if ast.get_docstring(owner) else owner.body

    yield from edited(design, drop)


@operator(reads.something_is_forbidden)
def foreign_import(design: Design) -> Iterator[Design]:
    for line in ("import os", "import time", "import sys", "import subprocess"):
        yield Design(design.name, design.header, f"\n{line}\n{design.body}")


@operator(reads.something_is_forbidden)
def introspection(design: Design) -> Iterator[Design]:
    for line in ("self._kept = eval('1')", "self._kept = self.__dict__", "self._kept = open('/etc/passwd')"):
        yield from prepended(design, "reset", line)


@operator(reads.there_are_two_environments)
def second_environment(design: Design) -> Iterator[Design]:
    tree = design.tree()
    base = ast.unparse(environment(tree).bases[0])
    tree.body += parsed(f"class Another({base}):\n    '''Nothing.'''")
    yield design.with_tree(tree)


def _drop(owner: ast.ClassDef, name: str) -> None:
    owner.body.remove(methods(owner)[name])


@operator(reads.a_method_is_missing)
def method_dropped(design: Design) -> Iterator[Design]:
    for name in ("hint", "expert_action"):
        yield from edited(design, partial(_drop, name=name))


@operator(reads.a_tool_is_documented_wrongly)
def tool_parameter_undocumented(design: Design) -> Iterator[Design]:
    for found in re.finditer(r"(?m)^            (\w+): [A-Z].*\n", design.body):
        yield Design(design.name, design.header, design.body.replace(found[0], "", 1))


@operator(reads.the_constructor_needs_an_argument)
def constructor_without_a_default(design: Design) -> Iterator[Design]:
    def edit(owner: ast.ClassDef) -> None:
        methods(owner)["__init__"].args.args.insert(1, ast.arg("style"))

    yield from edited(design, edit)
