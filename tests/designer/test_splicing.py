"""Splicing: whole methods from a reply take the old ones' place, and nothing else moves."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spade_envs import Rejection, seeds_folder
from spade_train.designer.splicing import Spliced, splice
from spade_train.designer.syntax import class_of, methods_of

SEEDS = {path.stem: path.read_text("utf-8") for path in sorted(seeds_folder().glob("*.py"))}
LAMPS = SEEDS["lamp_row"]


def fenced(code: str) -> str:
    return f"Here it is.\n```python\n{code}\n```\n"


def methods(source: str) -> dict[str, str]:
    owner = class_of(ast.parse(source))
    assert owner is not None
    return {name: ast.unparse(node) for name, node in methods_of(owner).items()}


def text_of(source: str, name: str) -> str:
    """The method as it stands there, indented."""
    owner = class_of(ast.parse(source))
    assert owner is not None
    node = methods_of(owner)[name]
    return "\n".join(source.splitlines()[node.lineno - 1 : node.end_lineno])


def changed(method: str) -> str:
    """The method with a statement more at its end, which ends the text that a reply gives."""
    return f"{textwrap.dedent(method)}\n    raise ValueError('new')"


@st.composite
def choices(draw: st.DrawFn) -> tuple[str, list[str]]:
    source = SEEDS[draw(st.sampled_from(sorted(SEEDS)))]
    names = draw(st.lists(st.sampled_from(sorted(methods(source))), min_size=1, max_size=3, unique=True))
    return source, names


@given(choices(), st.sampled_from(["bare", "indented", "in a class", "first line not indented"]))
@settings(max_examples=30, deadline=None)
def test_what_is_given_changes_and_every_other_line_stays(choice: tuple[str, list[str]], form: str) -> None:
    source, names = choice
    code = "\n\n".join(changed(text_of(source, name)) for name in names)
    owner = class_of(ast.parse(source))
    assert owner is not None
    if form == "indented":
        code = textwrap.indent(code, "    ")
    elif form == "in a class":
        code = f"class {owner.name}(gym.Env):\n{textwrap.indent(code, '    ')}"
    elif form == "first line not indented":
        code = textwrap.indent(code, "    ").lstrip()
    spliced = splice(source, fenced(code))
    assert isinstance(spliced, Spliced)
    assert sorted(spliced.changed) == sorted(names)
    before, after = methods(source), methods(spliced.source)
    assert list(before) == list(after)
    for name in before:
        assert (before[name] != after[name]) == (name in names)
        assert after[name].endswith("raise ValueError('new')") == (name in names)
    added = [line for line in spliced.source.splitlines() if "ValueError('new')" in line]
    assert len(added) == len(names)
    assert len(spliced.source.splitlines()) == len(source.splitlines()) + len(names)


@given(st.sampled_from(sorted(SEEDS)), st.data())
@settings(max_examples=30, deadline=None)
def test_a_reply_that_gives_back_what_is_there_changes_nothing(name: str, data: st.DataObject) -> None:
    source = SEEDS[name]
    method = data.draw(st.sampled_from(sorted(methods(source))))
    refusal = splice(source, fenced(text_of(source, method)))
    assert isinstance(refusal, Rejection)
    assert refusal.findings[0].rule == "splice.unchanged"


def test_new_methods_constants_functions_and_imports_find_their_place() -> None:
    code = """import math
from itertools import combinations

SIZE = 7


def ring(n):
    return math.ceil(n)


class LampRow(gym.Env):
    action_names = ("a", "b")

    def _new(self):
        return ring(SIZE)
"""
    spliced = splice(LAMPS, fenced(code))
    assert isinstance(spliced, Spliced)
    assert set(spliced.changed) == {"import math", "SIZE", "ring", "action_names", "_new"}
    assert spliced.source.count("from itertools import combinations") == 1
    assert "_new" in methods(spliced.source)
    compile(spliced.source, "spliced", "exec")
    assert spliced.source.index("SIZE = 7") < spliced.source.index("class LampRow")


def test_of_two_definitions_the_later_counts_and_helper_classes_keep_theirs() -> None:
    source = LAMPS.replace(
        "class LampRow", "class Lamp:\n    def reset_it(self):\n        return 1\n\n\nclass LampRow"
    )
    code = "def hint(self):\n    return 'one'\n\n\nclass Lamp:\n    def reset_it(self):\n        return 2"
    spliced = splice(source, fenced(code) + fenced("def hint(self):\n    return 'two'"))
    assert isinstance(spliced, Spliced)
    assert methods(spliced.source)["hint"] == "def hint(self):\n    return 'two'"
    assert "return 2" in spliced.source
    assert "reset_it" not in methods(spliced.source)


@pytest.mark.parametrize(
    ("reply", "rule"),
    [
        ("", "reply.empty"),
        ("I would change the hint.", "reply.no-block"),
        ("```python\ndef hint(self):\n    return 'x'", "reply.cut-off"),
        ("<think>```python\ndef hint(self): return 1\n```</think>", "reply.empty"),
        (fenced("def hint(self:\n    return 'x'"), "splice.syntax"),
        (fenced("print(3)"), "splice.nothing"),
        (fenced("x" * 200_000), "splice.size"),
        (fenced("(" * 20_000), "splice.syntax"),
        (fenced("\n".join(f"x{n} = 1" for n in range(60))), "splice.many"),
        (fenced("def hint(self):\n    return \u201cx\u201d"), "reply.typographic-quote"),
    ],
)
def test_a_reply_without_methods_says_why(reply: str, rule: str) -> None:
    refusal = splice(LAMPS, reply)
    assert isinstance(refusal, Rejection)
    assert refusal.findings[0].rule == rule


REPLIES = sorted((Path(__file__).parent / "replies").glob("*.txt"))


@pytest.mark.parametrize("path", REPLIES, ids=lambda path: path.stem)
def test_real_replies_never_raise(path: Path) -> None:
    result = splice(LAMPS, path.read_text("utf-8"))
    assert isinstance(result, Rejection) or compile(result.source, path.name, "exec")
