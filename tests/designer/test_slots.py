"""Slots: every filling is a whole, readable, correct source; the templates' choices all matter."""

from __future__ import annotations

import json
import subprocess
import sys
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rules import RULES, every_rule

from spade_envs import Header, Rejection, judge, parse_header
from spade_envs.contract.header import body
from spade_envs.language.compiler import CompiledSource, compile_source
from spade_train.designer import DesignContext, Document, Draft, SlotDesigner
from spade_train.designer.slots import Specification, Template, random_specification, render, templates

CONTEXT = DesignContext(round=3, seed=0)
LONGEST = {
    "title": "Watchmaker Collective",
    "thing": "nightshade",
    "items": ["sunlight", "moonbeam", "starfish"],
}
fillings = st.integers(0, 2**32).map(lambda seed: random_specification(Random(seed)))


@given(fillings)
@settings(max_examples=40, deadline=None)
def test_every_filling_is_read_and_compiles(spec: Specification) -> None:
    draft = SlotDesigner().read(json.dumps(spec), CONTEXT)
    assert isinstance(draft, Draft)
    source = draft.source
    header = parse_header(source)
    assert isinstance(header, Header), header.text()
    assert (header.origin, header.generation_round, header.title) == ("generated", 3, spec["title"])
    assert header.id.name == spec["title"].replace(" ", "")
    assert header.max_episode_steps == spec["turns"]
    assert isinstance(compile_source(source), CompiledSource)
    assert render(spec, 3) == source
    assert body(render(spec, 4)) == body(source)


@pytest.mark.parametrize("template", templates().values(), ids=list(templates()))
def test_a_template_offers_choices_that_all_change_the_code(template: Template) -> None:
    enough = {"goal": 3, "feedback": 3, "end": 2}
    assert all(len(template.properties[rule]["enum"]) >= enough[rule] for rule in RULES)
    sources = [body(render(spec, 3)) for spec in every_rule(template)]
    assert len(set(sources)) == len(sources)


@pytest.mark.parametrize("check", [["format", "--diff"], ["check", "--select", "E,F,W,I,UP,SIM,C4,PIE"]])
def test_sources_are_as_tidy_as_if_written_by_hand(tmp_path: Any, check: list[str]) -> None:
    for number, spec in enumerate(s for t in templates().values() for s in every_rule(t, **LONGEST)):
        (tmp_path / f"design_{number}.py").write_text(render(spec, 3))
    command = [sys.executable, "-m", "ruff", *check, "--isolated", "--line-length", "110", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[:3000] + done.stderr


def test_the_worked_examples_obey_the_schema_and_are_admitted() -> None:
    for template in templates().values():
        for example in template.examples:
            draft = SlotDesigner().read(json.dumps(example), CONTEXT)
            assert isinstance(draft, Draft)
            report = judge(draft.source)
            assert report.admitted, report.text("example")


@pytest.mark.soak
def test_half_of_random_fillings_are_admitted() -> None:
    rng = Random(11)
    reports = [judge(render(random_specification(rng), 3)) for _ in range(18)]
    assert sum(report.admitted for report in reports) >= 9
    rules = {f.rule for report in reports for gate in report.gates for f in gate.findings}
    assert rules <= {"solvable.expert", "short-cut.random", "short-cut.constant", "short-cut.replay"}


@pytest.mark.parametrize(
    ("reply", "rule"),
    [
        ("", "slots.json"),
        ('{"template": "hunt", "title": "Cut O', "slots.json"),
        ("[" * 100_000, "slots.json"),
        ("[]", "slots.template"),
        ('{"template": ["hunt"]}', "slots.template"),
        ('{"template": "chess"}', "slots.template"),
        ('{"template": "hunt"}', "slots.missing"),
    ],
)
def test_a_reply_that_is_no_specification_is_refused(reply: str, rule: str) -> None:
    refusal = SlotDesigner().read(reply, CONTEXT)
    assert isinstance(refusal, Rejection)
    assert refusal.findings[0].rule == rule


@pytest.mark.parametrize(
    ("template", "slot", "value"),
    [
        ("hunt", "title", "fox"),
        ("hunt", "title", "Fox Den\n"),
        ("hunt", "title", 'Fox "Den'),
        ("hunt", "numbers", 1_000),
        ("hunt", "numbers", 20.0),
        ("hunt", "turns", True),
        ("walk", "goal", "fly"),
        ("walk", "goal", ["reach"]),
        ("recall", "items", "oak"),
        ("recall", "items", ["oak", "elm", "oak"]),
        ("recall", "items", ["oak", "elm"]),
        ("recall", "items", ["oak", "elm", {}]),
        ("pick", "colour", "red"),
    ],
)
def test_a_slot_that_does_not_fit_is_named(template: str, slot: str, value: object) -> None:
    spec = templates()[template].examples[0] | {slot: value}
    refusal = SlotDesigner().read(json.dumps(spec), CONTEXT)
    assert isinstance(refusal, Rejection)
    assert [slot in finding.found for finding in refusal.findings] == [True]


def test_the_schema_constrains_sampling() -> None:
    llguidance = pytest.importorskip("llguidance")
    style = {"whitespace_flexible": False, "key_separator": ": ", "item_separator": ", "}
    schema = json.dumps(SlotDesigner().schema())
    grammar = llguidance.LLMatcher.grammar_from_json_schema(schema, defaults=style)
    tokenizer = llguidance.LLTokenizer("byte")

    def accepts(spec: Specification) -> bool:
        matcher = llguidance.LLMatcher(tokenizer, grammar)
        matcher.consume_tokens(tokenizer.tokenize_str(json.dumps(spec)))
        return not matcher.is_error() and matcher.is_accepting()

    rng = Random(5)
    assert all(accepts(random_specification(rng)) for _ in range(50))
    assert not accepts(templates()["hunt"].examples[0] | {"numbers": 1_000})


def test_a_prompt_shows_different_templates_and_the_document() -> None:
    document = Document("one two three four five", "a:1")
    context = DesignContext(3, 0, document, digest="Good before: X", target="parity")
    messages = SlotDesigner(excerpt_words=3).prompt(context)
    shown = [json.loads(m["content"]) for m in messages if m["role"] == "assistant"]
    assert len({spec["template"] for spec in shown}) == len(shown) == 3
    assert messages[-1]["content"].splitlines() == [
        "Good before: X",
        "Text: one two three",
        "It trains parity.",
        "A new game?",
    ]
    assert SlotDesigner(excerpt_words=3).prompt(context) == messages


def test_examples_change_with_the_round_and_the_wished_parent_stands_last() -> None:
    def shown(context: DesignContext) -> list[str]:
        return [m["content"] for m in SlotDesigner().prompt(context) if m["role"] == "assistant"]

    assert len({tuple(shown(DesignContext(round=n, seed=0))) for n in range(10)}) > 3
    walk = templates()["walk"]
    assert json.loads(shown(DesignContext(0, 0, parents=(walk.parent,)))[-1])["template"] == "walk"
