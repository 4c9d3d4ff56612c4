"""Questions asked again and again: the same answers out of memory, as long as nothing changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from life import admitted, lived

from spade_envs.records import Query
from spade_envs.registry import Registry, shipped_registry
from spade_envs.registry.catalogue import Catalogue
from spade_envs.registry.overview import ask
from spade_envs.registry.status import change

BANDS = {"regret": ((-1.0, 0.0), (0.0, 1.0))}
TEXTS = (
    "lamp", "LAMP row", "lamp-row", "the", "widget 'OR' turn", '"', "!!! lamp", "a*b", "wid get", "naïve", "row row",
    "logical planning", "\0", "7", "x" * 200,
)  # fmt: skip


@pytest.fixture
def stack(tmp_path: Path) -> list[Registry]:
    return [Registry(shipped_registry(), read_only=True), lived(tmp_path / "own", "spade/LampRow-v0")]


@pytest.mark.parametrize("text", TEXTS)
def test_the_same_versions_hold_the_words(stack: list[Registry], text: str) -> None:
    for older in (False, True):
        query = Query(text=text, sort="name", all_versions=older)
        wanted, found = ask(query, stack), Catalogue(lambda: stack).ask(query, BANDS)
        assert [row.id for row in found.rows] == [row.listed.id for row in wanted.rows]
        assert found.total == wanted.total


def test_a_row_tells_what_the_records_tell(stack: list[Registry]) -> None:
    found = Catalogue(lambda: stack).ask(Query(all_versions=True, sort="regret"), BANDS)
    wanted = ask(Query(all_versions=True, sort="regret"), stack)
    for brief, row in zip(found.rows, wanted.rows, strict=True):
        same = {
            name: getattr(row.listed, name) for name in type(brief).__dataclass_fields__ if name != "lately"
        }
        assert {name: getattr(brief, name) for name in same} == {**same, "skills": brief.skills}
        assert sorted(brief.skills) == sorted(row.listed.skills)
    (lamps,) = (row for row in found.rows if row.id == "spade/LampRow-v0")
    assert lamps.lately == ((0.5, 0.0), (0.5, 0.25), (0.5, 0.5))


def test_a_name_weighs_more_than_a_summary(stack: list[Registry]) -> None:
    found = Catalogue(lambda: stack).ask(Query(text="row", sort="rank"), BANDS)
    assert found.rows[0].id == "spade/LampRow-v0"
    assert len(found.rows) > 1


def test_what_changes_is_seen(stack: list[Registry], monkeypatch: Any) -> None:
    monkeypatch.setattr("spade_envs.registry.catalogue._REST", 0.0)
    catalogue, query = Catalogue(lambda: stack), Query(text="widget", status="retired")
    before = catalogue.ask(query, BANDS).total
    env_id = admitted(stack[1], answer=7)
    assert env_id in {row.id for row in catalogue.ask(Query(text="widget"), BANDS).rows}
    change([env_id], "retired", "a test", stack[1])
    assert catalogue.ask(query, BANDS).total == before + 1


def test_records_that_change_all_the_time_are_not_read_all_the_time(
    stack: list[Registry], monkeypatch: Any
) -> None:
    monkeypatch.setattr("spade_envs.registry.catalogue._REST", 1e6)
    catalogue = Catalogue(lambda: stack)
    total = catalogue.ask(Query(all_versions=True), BANDS).total
    admitted(stack[1], answer=7)
    assert catalogue.ask(Query(all_versions=True), BANDS).total == total
    assert catalogue.ask(Query(), BANDS).total == ask(Query(), stack).total  # never read before


def test_another_stack_is_read_anew(stack: list[Registry], monkeypatch: Any) -> None:
    monkeypatch.setattr("spade_envs.registry.catalogue._REST", 1e6)
    shown = [stack[1]]
    catalogue = Catalogue(lambda: shown)
    assert catalogue.ask(Query(), BANDS).total == 2
    shown.insert(0, stack[0])
    assert catalogue.ask(Query(), BANDS).total == ask(Query(), stack).total


def test_a_row_is_never_older_than_the_question(stack: list[Registry], monkeypatch: Any) -> None:
    monkeypatch.setattr("spade_envs.registry.catalogue._REST", 1e6)  # what is counted may be
    catalogue = Catalogue(lambda: stack)

    def statuses() -> dict[str, str]:
        return {row.id: row.status for row in catalogue.ask(Query(), BANDS).rows}

    for status in ("retired", "active", "quarantined"):
        change(["spade/Gadget-v0"], status, "a test", stack[1])  # type: ignore[arg-type]
        assert [statuses()["spade/Gadget-v0"] for _ in range(2)] == [status, status]


def test_what_is_remembered_belongs_to_its_question(stack: list[Registry]) -> None:
    asked = [
        Query(),
        Query(sort="newest", limit=2),
        Query(domain="games"),
        Query(domain="games", offset=1, limit=1),
        Query(text="lamp", sort="rank"),
        Query(text="lamp row", domain="games"),
        Query(all_versions=True),
    ]
    catalogue = Catalogue(lambda: stack)
    for query in asked * 2:
        assert catalogue.ask(query, BANDS) == Catalogue(lambda: stack).ask(query, BANDS), query
        assert catalogue.ask(query, {}).facets["regret"] == ()
