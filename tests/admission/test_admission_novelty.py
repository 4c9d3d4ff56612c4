"""Novelty: copies in disguise are refused and named, variants that name their source are not, nothing held out."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from designs import CODE, HEADER, HONEST
from disguises import DISGUISES
from hypothesis import given
from hypothesis import strategies as st

from spade_envs import parse_header, seeds_folder
from spade_envs.admission import Settings, Surroundings, admit, judge, neighbours
from spade_envs.admission.behaviour import bare
from spade_envs.admission.evidence import Evidence
from spade_envs.admission.fingerprint import (
    LEVELS,
    STREAMS,
    Course,
    Fingerprint,
    from_dict,
    no_streams,
    of_source,
    with_streams,
)
from spade_envs.admission.likeness import differs, likeness
from spade_envs.admission.neighbours import Neighbour
from spade_envs.admission.novelty import novelty
from spade_envs.admission.sheet import Sheet
from spade_envs.contract.header import Header, code_sha256
from spade_envs.registry import Registry, stack

QUICK = Settings(reset_seeds=20, expert_seeds=10, more_expert_seeds=0, replayed_seeds=2)
SEEDS = sorted([*seeds_folder().glob("*.py"), *seeds_folder().glob("heldout/*.py")])
OTHER = HONEST.replace("LampHunt", "BulbHunt").replace('origin = "seed"', 'origin = "generated"')
OTHER = OTHER.replace("# license", "# generation_round = 1\n# license")


@pytest.fixture(autouse=True)
def own_registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPADE_REGISTRY", str(tmp_path / "user"))
    monkeypatch.setenv(stack.ADDED, "")


def judged(
    source: str, others: list[Neighbour], courses: dict[Any, tuple[Course, ...]] | None = None
) -> Sheet:
    """Ask the gate alone."""
    header = parse_header(source)
    assert isinstance(header, Header)
    evidence = Evidence(header, source=source, around=Surroundings(tuple(others)), courses=courses or {})
    sheet = Sheet("novelty")
    novelty(evidence, Settings(), sheet)
    return sheet


def neighbour(source: str, name: str = "spade/LampHunt-v0", **more: Any) -> Neighbour:
    return Neighbour(
        name, more.pop("parent", None), code_sha256(source), more.pop("print_", of_source(source)), **more
    )


def rules(sheet: Sheet) -> list[str]:
    return [finding.rule for finding in sheet.findings]


# --- likeness


def test_seeds_and_held_out_environments_are_far_from_each_other() -> None:
    prints = [of_source(path.read_text()) for path in SEEDS]
    for place, one in enumerate(prints[:-1]):
        alike = likeness(one, prints[place + 1 :])
        assert alike.tree.max() < 0.3
        assert alike.contained.max() < 0.5
        assert alike.text.max() < 0.2


def test_labelled_designs_are_far_from_each_other_and_from_the_seeds(shared_designs: Path) -> None:
    paths = [*SEEDS, *sorted(shared_designs.glob("honest/*.py")), *sorted(shared_designs.glob("mixed/*.py"))]
    near = [
        (a, b)
        for (a, one), (b, other) in combinations([(p, of_source(p.read_text())) for p in paths], 2)
        if likeness(one, [other]).overall[0] > 0.3
    ]
    assert not near


@pytest.mark.parametrize("disguise", DISGUISES)
def test_copies_in_disguise_are_near(disguise: str) -> None:
    settings = Settings()
    for path in SEEDS:
        source = path.read_text()
        alike = likeness(of_source(source), [of_source(DISGUISES[disguise](source))])
        assert alike.tree[0] >= settings.near_tree + 0.1, path
        assert alike.contained[0] >= settings.near_contained + 0.1, path


@given(st.sampled_from(SEEDS), st.sampled_from(SEEDS))
def test_likeness_is_symmetric_and_one_for_itself(a: Path, b: Path) -> None:
    one, other = of_source(a.read_text()), of_source(b.read_text())
    here, there = likeness(one, [other]), likeness(other, [one])
    for part in ("tree", "contained", "text", "behaviour"):
        assert getattr(here, part)[0] == pytest.approx(getattr(there, part)[0])
        assert 0 <= getattr(here, part)[0] <= 1
    assert likeness(one, [one]).overall[0] == 1


@given(st.lists(st.from_regex(r"[a-z]{1,8}", fullmatch=True), min_size=3, max_size=3, unique=True))
def test_names_strings_and_numbers_do_not_count(words: list[str]) -> None:
    template = 'def f_{0}(f_{1}):\n    f_{2} = [f_{1} * {3}, "{0}"]\n    return sorted(f_{2})\n'
    one, other = template.format("a", "b", "c", 1), template.format(*words, len(words[0]) + 2)
    assert likeness(of_source(one), [of_source(other)]).tree[0] == 1


def test_what_cannot_be_renamed_counts() -> None:
    one, other = "def f(rows):\n    return sorted(rows)\n", "def f(rows):\n    return sum(rows)\n"
    assert likeness(of_source(one), [of_source(other)]).tree[0] < 1


@given(st.text())
def test_any_text_has_a_fingerprint(text: str) -> None:
    own = of_source(text)
    assert 0 <= likeness(own, [own]).overall[0] <= 1


def test_deep_nesting_is_no_fault() -> None:
    of_source("x = " + "(" * 5000 + ")" * 5000)
    of_source("x = " + "-" * 20000 + "1")


@given(st.lists(st.integers(1, 2**32 - 1), min_size=2 * LEVELS * STREAMS, max_size=2 * LEVELS * STREAMS))
def test_a_fingerprint_survives_json(numbers: list[int]) -> None:
    streams = np.array(numbers, dtype=np.uint32).reshape(2, -1)
    own = replace(with_streams(of_source(HONEST), streams), success={"1": (3, 50)}, steps={"1": (4, 5)})
    text = json.dumps(own.as_dict())
    again = from_dict(json.loads(text))
    assert len(text) < 4096
    assert again is not None
    assert (again.row == own.row).all()
    assert (again.tree_size, again.success, again.steps) == (own.tree_size, own.success, own.steps)


@pytest.mark.parametrize(
    "damage", [{"version": 0}, {"row": "AAAA"}, {"row": "!"}, {"steps": 3}, {"success": {"1": 2}}]
)
def test_a_damaged_fingerprint_is_none(damage: dict[str, Any]) -> None:
    assert from_dict({**of_source(HONEST).as_dict(), **damage}) is None
    assert from_dict(None) is None


def test_ten_thousand_comparisons_are_fast() -> None:
    own = of_source(HONEST)
    many = [replace(own, row=own.row.copy()) for _ in range(10_000)]
    took = []
    for _ in range(5):
        start = time.process_time()
        likeness(own, many)
        took.append(time.process_time() - start)
    assert min(took) < 0.15  # 20 ms on a quiet machine; here others may work too


# --- behaviour


def test_the_bare_course_knows_no_names() -> None:
    assert bare({"low": 3, "text": "Box A7: 2 apples, 1 pear"}) == bare(
        {"z": "Crate B7: 2 nuts, 1 fig", "a": 3}
    )
    assert bare("2 apples, 1 pear") != bare("2 apples, 2 pears")
    assert bare(np.array([1.0, 2.0])) == bare((1, 2.0))
    assert bare("9" * 400) == ["inf", 0]


def played(source: str, whole: int, bare_: int, **more: Any) -> Fingerprint:
    streams = no_streams()
    streams[0, :STREAMS], streams[1, :STREAMS] = np.arange(STREAMS) + whole, np.arange(STREAMS) + bare_
    return replace(with_streams(of_source(source), streams), **more)


def test_equal_episodes_are_alike_whatever_the_code() -> None:
    one, other = played(HONEST, 100, 200), played("x = 1", 300, 200)
    assert likeness(one, [other]).behaviour[0] == 1
    assert likeness(one, [played("x = 1", 300, 400)]).behaviour[0] == 0


def test_streams_that_tell_nothing_apart_are_like_nothing() -> None:
    streams = no_streams()
    streams[:, :STREAMS] = 7
    dull = with_streams(of_source(HONEST), streams)
    assert likeness(dull, [dull]).behaviour[0] == 0


def test_behaviour_differs_by_episodes_or_by_measured_success() -> None:
    one = played(HONEST, 100, 200, success={"1": (0, 50)}, steps={"1": (5,) * 20})
    assert differs(one, one) is None
    assert "6 of 6 episodes" in str(differs(one, played(HONEST, 100, 300)))
    assert "random play" in str(differs(one, replace(one, success={"1": (15, 50)})))
    assert differs(one, replace(one, success={"1": (2, 50)})) is None
    assert "expert" in str(differs(one, replace(one, steps={"1": (6,) * 20})))


# --- the gate


def test_an_unlike_design_is_novel_and_its_distance_is_seen() -> None:
    sheet = judged(HONEST, [neighbour(path.read_text(), f"spade/N{k}-v0") for k, path in enumerate(SEEDS)])
    assert not sheet.findings
    assert 0.5 < sheet.saw["distance"] < 1
    assert len(sheet.saw["nearest"]) == 3
    assert from_dict(sheet.saw["fingerprint"]) is not None


def test_alone_a_design_is_at_the_greatest_distance() -> None:
    assert judged(HONEST, []).saw["distance"] == 1


def test_a_near_duplicate_is_named_with_its_likeness() -> None:
    sheet = judged(OTHER, [neighbour(HONEST)])
    assert rules(sheet) == ["novelty.near-duplicate"]
    assert "spade/LampHunt-v0" in sheet.findings[0].found
    assert "100% of the syntax tree" in sheet.findings[0].found
    assert sheet.saw["distance"] == 0


COURSES = {1: tuple(Course(100 + k, 200 + k) for k in range(STREAMS))}


@pytest.mark.parametrize(
    ("parent", "other", "bare_", "passes"),
    [
        ("spade/LampHunt-v0", {}, 900, True),  # it names its source and behaves differently
        ("spade/LampHunt-v0", {}, 200, False),  # it behaves alike
        (None, {}, 900, False),  # it does not name its source
        ("spade/Elsewhere-v0", {}, 900, False),  # it names another one
        ("spade/Elsewhere-v1", {"parent": "spade/Elsewhere-v0"}, 900, True),  # both stem from one template
        ("spade/LampHunt-v0", {"held_out": True}, 900, False),  # nothing may be like what is held out
    ],
)
def test_variants(parent: str | None, other: dict[str, Any], bare_: int, passes: bool) -> None:
    source = OTHER.replace("# license", f'# parent = "{parent}"\n# license') if parent else OTHER
    sheet = judged(source, [neighbour(HONEST, print_=played(HONEST, 500, bare_), **other)], COURSES)
    assert sheet.refuses is not passes
    assert ("variant of" in sheet.saw) is passes


def test_a_variant_of_a_variant_names_the_first_source_through_its_parent() -> None:
    source = OTHER.replace("# license", '# parent = "spade/LampTwo-v0"\n# license')
    first = neighbour(HONEST, print_=played(HONEST, 500, 900))
    second = neighbour(
        HONEST, "spade/LampTwo-v0", parent="spade/LampHunt-v0", print_=played(HONEST, 700, 950)
    )
    assert not judged(source, [first, second], COURSES).findings
    stranger = replace(second, parent=None)
    assert rules(judged(source, [first, stranger], COURSES)) == ["novelty.near-duplicate"]


def test_another_constant_makes_a_variant_that_has_to_name_its_source() -> None:
    source = OTHER.replace("(60, 120)", "(70, 130)")
    sheet = judged(source, [neighbour(HONEST, print_=played(HONEST, 500, 900))], COURSES)
    assert rules(sheet) == ["novelty.near-duplicate"]
    assert "6 of 6 episodes" in sheet.findings[0].found
    assert "set `parent` to spade/LampHunt-v0" in sheet.findings[0].remedy


def test_a_source_that_was_never_played_says_so() -> None:
    source = OTHER.replace("# license", '# parent = "spade/LampHunt-v0"\n# license')
    sheet = judged(source, [neighbour(HONEST)], COURSES)
    assert "admitted anew" in sheet.findings[0].remedy


def test_a_person_may_revise_his_own_environment_and_check_what_is_held_out() -> None:
    assert not judged(HONEST.replace("Halve what", "Cut what"), [neighbour(HONEST)]).findings
    assert not judged(HONEST, [neighbour(HONEST, held_out=True)]).findings
    theft = HEADER.replace("LampHunt", "BulbHunt") + CODE
    assert rules(judged(theft, [neighbour(HONEST, held_out=True)])) == ["novelty.held-out"]


# --- with workers and registries


def test_admission_compares_with_the_registry_and_keeps_the_fingerprint(tmp_path: Path) -> None:
    registry = Registry(tmp_path / "own")
    first = admit(HONEST, registry, settings=QUICK)
    assert first.path is not None, first.report.text()
    (held, *_) = [n for n in neighbours([registry]) if not n.held_out]
    assert held.fingerprint.played
    assert held.fingerprint.success["1"][1] >= 12

    copy = admit(DISGUISES["all of these"](OTHER), registry, settings=QUICK)
    assert copy.report.gates[-1].findings[0].rule == "novelty.near-duplicate", copy.report.text()
    assert copy.id is None

    child = OTHER.replace("(60, 120)", "(70, 120)").replace(
        "# license", '# parent = "spade/LampHunt-v0"\n# license'
    )
    variant = admit(child, registry, settings=QUICK)
    assert variant.id == "spade/BulbHunt-v0", variant.report.text()
    seen = next(gate.saw for gate in variant.report.gates if gate.name == "novelty")
    assert seen["variant of"].startswith("spade/LampHunt-v0")


def test_a_version_without_a_fingerprint_is_compared_by_its_source(tmp_path: Path) -> None:
    registry = Registry(tmp_path / "old")
    registry.add(HONEST, {"gates": [{"name": "form"}]})
    held = neighbours([registry], held_out=tmp_path)
    assert [n.id for n in held] == ["spade/LampHunt-v0"]
    assert not held[0].fingerprint.played
    assert rules(judged(OTHER, list(held))) == ["novelty.near-duplicate"]


def test_copies_of_held_out_environments_are_refused_in_workers() -> None:
    path = seeds_folder() / "heldout" / "crossed_dials.py"
    copy = DISGUISES["renamed"](path.read_text())
    report = judge(copy, settings=QUICK, around=Surroundings(neighbours([])))
    assert [finding.rule for finding in report.gates[-1].findings] == ["novelty.held-out"], report.text()
