"""Another question in a world that stays: the class is the model's, all above it is ours."""

from __future__ import annotations

import ast
import re
import textwrap
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spade_envs import Header, Rejection, judge, parse_header, seeds_folder
from spade_train.designer import DesignContext, Document, Draft, EditDesigner, Window
from spade_train.designer import requestion as rq
from spade_train.designer.headers import Facts
from spade_train.designer.wording import calculations
from spade_train.designer.worked import short_examples

GLACIER, STALLS, TRAIN, SCRIBE = (one.whole for one in short_examples("questions"))
RULES = next(line.strip() for line in GLACIER.splitlines() if line.startswith('    """'))
FACTS = Facts(4, "spade/GlacierSurvey-v0")
CLASS = '''class GlacierRises(ToolEnv):
    """The height of a glacier is given. Say by how much it rose in all rising months."""

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        # Draw.
        heights = [int(n) for n in self.np_random.integers(200, 300, size=12)]
        # Calculate self._answer.
        self._answer = sum(b - a for a, b in zip(heights, heights[1:]) if b > a)
        # Ask.
        return f"Heights: {heights}. What do all rises from one to the next add up to?", {}

    def hint(self):
        return "Compare each height with the one before and add up what it is greater by."
'''


def fenced(code: str) -> str:
    return f"Plan: another.\n```python\n{code}\n```\n"


def draft(source: str, code: str, facts: Facts = FACTS) -> tuple[str, Header]:
    read = rq.written(source, fenced(code), facts)
    assert isinstance(read, Draft), read
    header = parse_header(read.source)
    assert isinstance(header, Header), header
    return read.source, header


def test_the_class_gives_the_names_and_the_parent_the_rest() -> None:
    source, header = draft(GLACIER, CLASS)
    assert (str(header.id), header.title) == ("spade/GlacierRises-v0", "Glacier rises")
    assert header.summary == "The height of a glacier is given. Say by how much it rose in all rising months."
    old = parse_header(GLACIER)
    assert isinstance(old, Header)
    assert (header.domain, header.skills) == (old.domain, old.skills)
    assert (str(header.parent), header.generation_round) == ("spade/GlacierSurvey-v0", 4)
    assert "MONTHS" not in source
    assert "from spade_envs import ToolEnv" in source
    assert not judge(source).refusing


def test_constants_that_the_class_uses_stay_and_others_go() -> None:
    parent = GLACIER.replace("MONTHS = [", 'FIRST = "March"\nOTHER = 3\nMONTHS = [FIRST, ').replace(
        'FIRST, "March"', "FIRST"
    )
    source, _ = draft(parent, CLASS.replace("size=12", "size=len(MONTHS)"))
    names = [ast.unparse(node.targets[0]) for node in ast.parse(source).body if isinstance(node, ast.Assign)]
    assert names == ["FIRST", "MONTHS"]
    own, _ = draft(parent, "MONTHS = list(range(9))\n\n\n" + CLASS.replace("size=12", "size=len(MONTHS)"))
    assert own.count("MONTHS = ") == 1


def test_a_class_that_keeps_its_name_is_told_from_its_parent() -> None:
    kept = CLASS.replace("GlacierRises", "GlacierSurvey")
    child, header = draft(GLACIER.replace("# ///\nfrom", "# ///  \nfrom"), kept)
    assert str(header.id) == "spade/GlacierSurveyRequestioned-v0"
    assert header.summary.startswith("The height of a glacier is given.")
    falls = "sum(heights[:3]) * max(heights) - sum(n % 7 for n in heights[5:] if n > 250)"
    other = kept.replace("sum(b - a for a, b in zip(heights, heights[1:]) if b > a)", falls)
    other = other.replace("rose in all", "fell, thrice, in all").replace(
        "np_random.integers(200, 300, size=12)", "np_random.permutation(90)"
    )
    _, second = draft(child, other)
    assert second.id.name not in (header.id.name, "GlacierSurvey")


def test_a_change_of_numbers_alone_is_no_other_question() -> None:
    numbers = CLASS.replace("200, 300, size=12", "20, 700, size=9").replace("GlacierRises", "Hills")
    first, _ = draft(GLACIER, CLASS)
    read = rq.written(first, fenced(numbers.replace("it rose", "hills rose")), FACTS)
    assert isinstance(read, Rejection)
    assert read.findings[0].rule == "splice.variant"


@pytest.mark.parametrize(
    ("code", "rule"),
    [
        (GLACIER[GLACIER.index("from ") :], "splice.unchanged"),
        (CLASS.replace("):", "", 1), "splice.syntax"),
        ("x" * 40_000, "splice.size"),
        ("print(3)", "splice.nothing"),
        (CLASS[CLASS.index("    def reset") :], "splice.syntax"),
        (textwrap.dedent(CLASS[CLASS.index("    def reset") :]), "splice.nothing"),
        (re.sub('""".*"""', RULES, CLASS), "splice.rules"),
    ],
)
def test_what_is_no_new_class_is_refused(code: str, rule: str) -> None:
    read = rq.written(GLACIER, fenced(code), FACTS)
    assert isinstance(read, Rejection)
    assert read.findings[0].rule == rule


@given(st.text(max_size=200), st.integers(0, len(CLASS)), st.integers(0, len(CLASS)))
@settings(max_examples=60, deadline=None)
def test_no_reply_makes_reading_raise(text: str, start: int, end: int) -> None:
    rq.written(GLACIER, text, FACTS)
    rq.written(GLACIER, fenced(text), FACTS)
    rq.written(GLACIER, fenced(CLASS[:start] + text + CLASS[end:]), FACTS)


@pytest.mark.parametrize(
    "deep", [f"x = {'+'.join('1' * 1500)}", f"x = self{'.a' * 1200}"], ids=["a sum", "attributes"]
)
def test_what_is_too_deep_to_be_compared_is_refused(deep: str) -> None:
    read = rq.written(GLACIER, fenced(CLASS.replace("        # Ask.", f"        {deep}")), FACTS)
    assert isinstance(read, Rejection)


def test_all_that_shapes_a_name_comes_along() -> None:
    constants = 'PRICES = {"a": 1}\nPRICES["b"] = 2\nSQUARES = [n * n for n in range(9)]'
    above = f"{constants}\n\n\nclass Box:\n    size = 3\n\n\nclass Glacier"
    parent = GLACIER.replace("class Glacier", above, 1).replace("MONTHS = [", "MONTHS: list = [")
    parent = parent.replace("\n\n\nclass Box", '\nMONTHS += ["x"]\n\n\nclass Box')
    source, _ = draft(parent, CLASS.replace("size=12", 'size=len(MONTHS) + PRICES["b"] + Box.size'))
    assert 'MONTHS += ["x"]' in source
    assert 'PRICES["b"] = 2' in source
    assert "class Box" in source
    assert "SQUARES" not in source
    future, _ = draft(GLACIER, "from __future__ import annotations\n\n\n" + CLASS)
    assert "__future__" not in future


def test_only_what_asks_one_question_suits() -> None:
    assert all(rq.suits(one) for one in (GLACIER, STALLS, TRAIN, SCRIBE))
    assert not any(rq.suits(one.whole) for one in short_examples("tools"))
    assert not rq.suits(GLACIER.replace("== str(", "!= str("))
    assert not rq.suits(GLACIER + "\n    def step(self, action):\n        return super().step(action)\n")
    assert not rq.suits((seeds_folder() / "lamp_row.py").read_text("utf-8"))


def test_worked_examples_are_sound_designs_about_no_calculation_that_is_asked_for() -> None:
    assert len(rq.quoted()) == 2 * len(rq.worked()) == 6
    assert not {one.calculation for one in rq.worked()} & set(calculations().whole)
    for source in rq.quoted():
        report = judge(source)
        assert report.admitted, report.refusing


def test_the_prompt_shows_the_class_and_what_is_asked_and_as_many_examples_as_fit() -> None:
    known = {"spade/GlacierSurvey-v0": GLACIER}
    context = DesignContext(4, 1, Document("A clerk keeps a ledger.", "a:1"), parents=tuple(known))
    lengths = set()
    for tokens in (1_200, 2_000, 6_000):
        chat = EditDesigner(brief=True, known=lambda: known, window=Window(tokens)).prompt(context)
        assert sum(len(one["content"]) // 3 for one in chat) <= tokens
        last = chat[-1]["content"]
        assert "class GlacierSurvey" in last
        assert "def goal_reached" not in last
        assert "From now on `self._answer` is the " in last or "From now on `self._answer` is how " in last
        assert "A clerk keeps a ledger." in last
        lengths.add(len(chat))
    assert len(lengths) == 3


def test_calculations_are_drawn_whole_and_put_together() -> None:
    drawn = {calculations().drawn(Random(n)) for n in range(400)}
    made = drawn - set(calculations().whole)
    assert len(made) > 100
    assert drawn - made == set(calculations().whole)
    assert all(" those of " in one and not re.search(r"[{}]", one) for one in made)


def test_small_models_write_another_question_and_large_ones_methods() -> None:
    known = {"spade/GlacierSurvey-v0": GLACIER}
    context = DesignContext(4, 1, parents=tuple(known))
    small, large = (EditDesigner(brief=brief, known=lambda: known) for brief in (True, False))
    read = small.read(fenced(CLASS), context)
    assert isinstance(read, Draft)
    assert "spade/GlacierRises-v0" in read.source
    assert small.quoted(context) == rq.quoted()
    assert large.quoted(context) == ()
    kept = large.read(fenced(CLASS), context)
    assert isinstance(kept, Draft)
    assert "MONTHS" in kept.source
