"""Worked examples: what a model is shown before it is asked for a file of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from spade_envs import Rejection, parse_header, seeds_folder
from spade_train.designer import answering
from spade_train.designer.headers import without_keys

OURS = ("id", "summary", "origin", "parent", "generation_round", "license", "contract")
"""Keys of the header that follow from the code or state facts: a model need not spend tokens on them."""

_LINE = re.compile(r"# (Document|Answer|Plan): (.*)\n")
Form = Literal["questions", "tools"]
"""Of short environments: one question to be answered, or tools to be used first."""


@dataclass(frozen=True, slots=True)
class Example:
    """A document and the file that was written about it, as a prompt shows it.

    Attributes:
        answer: what is to be calculated; empty where nobody wrote it down, as is the plan.
        plan: the idea in a line.
        source: without what a small model does not write: keys of the header and, of questions, two methods.
        whole: the file itself.
    """

    document: str
    answer: str
    plan: str
    source: str
    whole: str


@cache
def short_examples(form: Form) -> tuple[Example, ...]:
    """Return the short environments that were written to be shown, in the order of their names."""
    folder = seeds_folder() / "shown" / form
    whole = [_example(path.read_text("utf-8")) for path in sorted(folder.glob("*.py"))]
    if form == "tools":
        return tuple(whole)
    return tuple(replace(one, source=answering.without(one.source)) for one in whole)


@cache
def seed_examples() -> tuple[Example, ...]:
    """Return the shorter half of the seed environments, the shortest first."""
    sources = sorted((path.read_text("utf-8") for path in sorted(seeds_folder().glob("*.py"))), key=len)
    return examples_of(sources[: (len(sources) + 1) // 2])


def examples_of(sources: Iterable[str]) -> tuple[Example, ...]:
    """Return sources as examples; the summary stands for the document."""
    return tuple(map(_example, sources))


def as_asked(source: str) -> str:
    """Return a source without the header's keys that a model does not write."""
    return without_keys(source, *OURS)


def _example(source: str) -> Example:
    header = parse_header(source)
    said = {"Document": "" if isinstance(header, Rejection) else header.summary, "Answer": "", "Plan": ""}
    while found := _LINE.match(source):
        said[found[1]] = found[2]
        source = source[found.end() :]
    whole = source.removeprefix("#\n")
    return Example(said["Document"], said["Answer"], said["Plan"], as_asked(whole), whole)
