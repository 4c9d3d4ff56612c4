"""Families over several registries: ancestors up to the first, all descendants, circles, parents that no one holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from test_store import source

from spade_envs.records import Measured
from spade_envs.registry import Registry, add_registry, keep_round, stack
from spade_envs.registry.lineage import Lineage, Member, lineage


@pytest.fixture
def registries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Registry, Registry]:
    monkeypatch.setenv("SPADE_REGISTRY", str(tmp_path / "user"))
    monkeypatch.setenv(stack.ADDED, "")
    return add_registry(tmp_path / "user"), add_registry(tmp_path / "run")


def born(registry: Registry, name: str, parent: str | None = None, answer: int = 0, made: Any = None) -> str:
    text = source(name, answer)
    if parent:
        text = text.replace(
            'origin = "seed"', f'parent = "{parent}"\n# generation_round = 1\n# origin = "generated"'
        )
    return str(registry.add(text, {} if made is None else {"provenance": made}))


def ids(member: Member) -> dict[str, object]:
    return {child.id: ids(child) for child in member.children}


def test_a_family_is_told_over_all_registries(registries: tuple[Registry, Registry]) -> None:
    user, run = registries
    first = born(user, "First")
    second = born(run, "Second", first)
    third = born(user, "Third", second)
    other = born(run, "Other", second)
    born(user, "Aunt", first)
    for k in range(1, 12):
        born(user, "Third", third if k > 9 else second, k)
    found = lineage(second)
    assert [one.id for one in found.ancestors] == [first]
    versions = [f"spade/Third-v{k}" for k in range(12)]
    below = {one: {} for one in versions[1:10]}
    assert ids(found.member) == {other: {}, third: {versions[10]: {}, versions[11]: {}}, **below}
    assert list(ids(found.member)) == [other, *versions[:10]]  # by name and number
    assert not found.circular
    assert lineage(versions[11]).ancestors[-1].id == third
    assert lineage(first, depth=1).member.children[1].more
    assert lineage(first, depth=0).member == Member(first, "A design", "admitted", True, more=True)
    assert json.loads(json.dumps(found.as_dict()))["ancestors"][0]["id"] == first


def test_a_parent_that_no_registry_holds_is_named(registries: tuple[Registry, Registry]) -> None:
    user, run = registries
    child = born(user, "Child", "spade/Lost-v3")
    found = lineage(child)
    assert found.ancestors == (Member("spade/Lost-v3", None, None, False),)
    gone = born(run, "Gone", child)
    keep_round(user, "run", 0, measured=[Measured(gone, "run", 0, 8)])
    assert [one.id for one in lineage(child).member.children] == [gone]
    assert lineage(child, [user]).member.children == ()  # on record there, and held by none of these


def test_a_circle_ends(registries: tuple[Registry, Registry]) -> None:
    user, _ = registries
    one = born(user, "One", "spade/Two-v0")
    two = born(user, "Two", "spade/Three-v0")
    three = born(user, "Three", "spade/One-v0")
    found = lineage(one)
    assert found.circular
    assert [member.id for member in found.ancestors] == [three, two]
    assert ids(found.member) == {three: {two: {}}}


def test_a_long_line_is_told_as_far_as_is_asked(registries: tuple[Registry, Registry]) -> None:
    user, _ = registries
    last = None
    for k in range(20):
        last = born(user, "Long", last, k)
    assert last is not None
    assert len(lineage(last).ancestors) == 19
    member, depth = lineage("spade/Long-v0", depth=12).member, 0
    while member.children:
        (member,) = member.children
        depth += 1
    assert (depth, member.more) == (12, True)


def test_a_joined_design_is_of_both_families(registries: tuple[Registry, Registry]) -> None:
    user, run = registries
    one, two = born(user, "One"), born(run, "Two")
    joined = born(run, "Joined", one, made={"way": "compose", "parents": [one, two]})
    last = born(user, "Last", joined, made={"parents": [joined, "spade/Lost-v0", 7, "no id", None]})
    assert ids(lineage(two).member) == {joined: {last: {}}}
    assert [(child, parent.id) for child, parent in lineage(two).joins] == [
        (joined, one),
        (last, "spade/Lost-v0"),
    ]
    found = lineage(joined)
    assert [member.id for member in found.ancestors] == [one]
    assert [(child, parent.id, parent.held) for child, parent in found.joins] == [
        (joined, two, True),
        (last, "spade/Lost-v0", False),
    ]
    assert found.as_dict()["joins"][0]["parent"]["id"] == two
    assert json.loads(json.dumps(found.as_dict()))["joins"][1]["id"] == last


def test_two_parents_in_one_family_tell_of_a_child_once(registries: tuple[Registry, Registry]) -> None:
    user, _ = registries
    first = born(user, "First")
    one, two = born(user, "One", first), born(user, "Two", first)
    child = born(user, "Child", two, made={"parents": [two, one]})
    other = born(user, "Other", one, made={"parents": [one, first]})
    found = lineage(first)
    assert ids(found.member) == {one: {child: {}}, other: {}, two: {}}
    assert {(made, parent.id) for made, parent in found.joins} == {(child, two), (other, one)}
    assert not found.circular


@pytest.mark.parametrize(
    "made", ["parents", {"parents": "One"}, {"parents": {}}, ["parents"], {"x": "parents"}]
)
def test_a_making_that_cannot_be_read_says_nothing(registries: tuple[Registry, Registry], made: Any) -> None:
    user, _ = registries
    one = born(user, "One", made=made)
    assert lineage(one) == Lineage((), Member(one, "A design", "admitted", True))


def test_a_circle_above_is_told(registries: tuple[Registry, Registry]) -> None:
    user, _ = registries
    one, two = born(user, "One", "spade/Two-v0"), born(user, "Two", "spade/One-v0")
    found = lineage(born(user, "Child", two))
    assert found.circular
    assert [member.id for member in found.ancestors] == [one, two]
    assert [(child, parent.id) for child, parent in found.joins] == [(one, two)]
