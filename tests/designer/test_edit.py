"""Edits: a stored environment is chosen, a change is asked for, and what comes back stands under a header of ours."""

from __future__ import annotations

import ast
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from spade_envs import Header, Rejection, add_registry, parse_header, seeds_folder
from spade_envs.errors import UsageError
from spade_envs.registry.stack import ADDED
from spade_train.designer import ComposeDesigner, DesignContext, Document, Draft, EditDesigner, Window
from spade_train.designer.edit import mutations, part_of
from spade_train.designer.parents import chosen, stored
from spade_train.designer.worked import short_examples

SOURCES = [path.read_text("utf-8") for path in sorted(seeds_folder().glob("*.py"))]
SEEDS = {str(parse_header(source).id): source for source in SOURCES}  # type: ignore[union-attr]
TRAIN = next(one.whole for one in short_examples("questions") if "NightTrain" in one.whole)
CONTEXT = DesignContext(4, 1, Document("A clerk keeps a ledger.", "a:1"))
RESET = """def reset(self, *, seed=None, options=None):
    super().reset(seed=seed)
    self._answer = 3
    return '3', {}"""
OTHER = f'''class Count(ToolEnv):
    """Three is the answer."""

{textwrap.indent(RESET, "    ")}

    def hint(self):
        return "Say three."
'''


def prepared(designer: EditDesigner, number: int = 0, *parents: str) -> DesignContext:
    context = DesignContext(
        4, 1, Document("A clerk keeps a ledger. He adds.", "a:1"), parents=parents, number=number
    )
    return designer.prepare(context)


def test_parents_are_drawn_by_lot_or_as_wished_and_only_those_that_fit() -> None:
    designer = EditDesigner(known=lambda: SEEDS, window=Window(2_000))
    drawn = {prepared(designer, number).parents for number in range(40)}
    assert len(drawn) > 5
    assert prepared(designer).parents == prepared(designer).parents
    assert prepared(designer, 0, "spade/LampRow-v0").parents == ("spade/LampRow-v0",)
    assert all(designer.window.count(SEEDS[one]) < 2_000 for (one,) in drawn)
    with pytest.raises(UsageError, match="Allow more tokens"):
        prepared(EditDesigner(known=lambda: SEEDS, window=Window(70)))


def test_of_a_small_models_parents_those_come_first_that_another_question_can_be_asked_of() -> None:
    known = SEEDS | {"spade/NightTrain-v0": TRAIN}
    small = EditDesigner(brief=True, known=lambda: known)
    assert {prepared(small, number).parents for number in range(9)} == {("spade/NightTrain-v0",)}
    wish = next(one for one in sorted(SEEDS) if small.fits(SEEDS[one]))
    assert prepared(small, 0, wish).parents == (wish,)
    assert prepared(small, 0, wish, "spade/NightTrain-v0").parents == ("spade/NightTrain-v0",)
    large = EditDesigner(known=lambda: known)
    assert len({prepared(large, number).parents for number in range(9)}) > 3


def test_a_wish_that_is_said_twice_counts_once() -> None:
    known = dict.fromkeys(("A", "B", "C", "D"), "x")
    context = replace(CONTEXT, parents=("A", "A", "B"))
    assert chosen(known, context, bool, 2) == ("A", "B")


def test_a_newer_version_may_come_while_a_model_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ADDED, "")
    registry = add_registry(tmp_path / "registry")
    first, newer = (registry.add(f"{TRAIN}# {word}\n", {}) for word in ("first", "newer"))
    for designer in (EditDesigner(brief=True), EditDesigner()):
        context = replace(CONTEXT, parents=(str(first),))
        assert str(newer) in designer.known()
        assert str(first) not in designer.known()
        assert designer.prompt(context)
        read = designer.read(f"```python\n{OTHER if designer.brief else RESET}\n```", context)
        assert isinstance(read, Draft)
        assert f'parent = "{first}"' in read.source
    both = ComposeDesigner().prompt(replace(CONTEXT, parents=(str(first), str(newer))))
    assert "NightTrain" in both[0]["content"]


def test_a_parent_that_is_gone_is_a_refusal() -> None:
    context = replace(CONTEXT, parents=("spade/Gone-v0",))
    designer = EditDesigner(known=lambda: SEEDS)
    read = designer.read(f"```python\n{RESET}\n```", context)
    assert isinstance(read, Rejection)
    assert read.findings[0].rule == "splice.parent"
    with pytest.raises(UsageError, match="is in no registry any more"):
        designer.prompt(context)


def test_what_is_held_out_is_never_shown() -> None:
    held_out = {
        parse_header(path.read_text("utf-8")).id for path in (seeds_folder() / "heldout").glob("*.py")
    }  # type: ignore[union-attr]
    assert held_out
    assert not held_out & {parse_header(source).id for source in stored().values()}  # type: ignore[union-attr]


def test_small_models_are_shown_one_method_and_asked_for_easy_changes() -> None:
    designer = EditDesigner(brief=True, known=lambda: SEEDS)
    easy = {mutation.ask for mutation in mutations() if not mutation.hard}
    for number in range(20):
        context = prepared(designer, number)
        last = designer.prompt(context)[-1]["content"]
        assert last.split("```")[1].count("    def ") <= 1  # a function of its own at most
        assert "class " not in last.split("```")[1]
        assert any(ask.split("{")[0] in last for ask in easy)
        assert "A clerk keeps a ledger." in last


def test_a_part_holds_what_must_be_known_to_write_it_anew() -> None:
    part = part_of(SEEDS["spade/LampRow-v0"], "reset")
    assert part.method.startswith("def reset(self")
    assert part.sets == ("self._lit", "self._left")
    assert part.rules.startswith("A row of lamps is partly lit.")
    assert "WEIGHTS = 6" in part_of(SEEDS["spade/SpringScale-v0"], "reset").constants


def test_methods_are_put_in_under_a_header_that_names_the_parent() -> None:
    designer = EditDesigner(known=lambda: {"spade/NightTrain-v0": TRAIN})
    context = prepared(designer)
    draft = designer.read(f"Change: it is always 3.\n```python\n{RESET}\n```", context)
    assert isinstance(draft, Draft)
    header = parse_header(draft.source)
    assert isinstance(header, Header)
    assert header.id.name.startswith("NightTrain")
    assert header.id.name != "NightTrain"
    assert (str(header.parent), header.origin, header.generation_round) == (
        "spade/NightTrain-v0",
        "generated",
        4,
    )
    assert header.summary == "Work out the greatest number of people on a train along its way."
    assert "self._answer = 3" in draft.source
    assert draft.mends == ()
    ast.parse(draft.source)


def test_a_header_in_the_reply_changes_nothing_of_ours() -> None:
    designer = EditDesigner(known=lambda: {"spade/NightTrain-v0": TRAIN})
    whole = (
        TRAIN.replace('parent = "', 'parent = "x').replace("Night train", "Stolen").replace("max(", "min(")
    )
    draft = designer.read(f"```python\n{whole}\n```", prepared(designer))
    assert isinstance(draft, Draft)
    assert "Stolen" not in draft.source
    assert "min(" in draft.source


def test_a_reply_that_changes_nothing_is_refused() -> None:
    designer = EditDesigner(known=lambda: {"spade/NightTrain-v0": TRAIN})
    refusal = designer.read(f"```python\n{TRAIN}\n```", prepared(designer))
    assert isinstance(refusal, Rejection)
    assert refusal.findings[0].rule == "splice.unchanged"
