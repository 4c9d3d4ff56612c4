"""One question to all registries is answered as one registry would that held what lies on top."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spade_envs.contract import EnvId
from spade_envs.contract.header import Header
from spade_envs.errors import UsageError
from spade_envs.records import Database, Listed, Query, columns, counting, filing, reading, stacking
from spade_envs.records.query import Sort
from spade_envs.records.values import STATUSES

NAMES, SKILLS, DOMAINS = ("Alpha", "Beta", "Gamma"), ("counting", "looking"), ("games", "math")


@dataclass(frozen=True)
class Row:
    """One version as a registry has it on record."""

    name: str
    version: int
    held: bool
    domain: str
    skill: str
    status: str
    difficulty: float | None
    regret: float | None
    round: int | None

    @property
    def id(self) -> str:
        return str(EnvId(self.name, self.version))


def numbers(*values: float) -> st.SearchStrategy[float | None]:
    return st.sampled_from((None, *values))


rows = st.builds(
    Row,
    name=st.sampled_from(NAMES),
    version=st.integers(0, 3),
    held=st.sampled_from((True, True, False)),
    domain=st.sampled_from(DOMAINS),
    skill=st.sampled_from(SKILLS),
    status=st.sampled_from(STATUSES),
    difficulty=numbers(0.0, 0.25, 0.5, 1.0),
    regret=numbers(-0.5, 0.0, 0.5),
    round=numbers(0, 1, 2),
)
registries = st.lists(st.lists(rows, max_size=6, unique_by=lambda row: row.id), min_size=1, max_size=4)
SORTS: tuple[Sort, ...] = ("name", "newest", "difficulty", "regret", "round")
ranges = st.sampled_from([(-float("inf"), float("inf")), (0.0, 0.5), (-1.0, 0.25)])
queries = st.builds(
    Query,
    text=st.sampled_from(["", "", "alpha", "count"]),
    domain=st.sampled_from([None, None, *DOMAINS]),
    skill=st.sampled_from([None, None, *SKILLS]),
    status=st.sampled_from([None, None, "active", "retired"]),
    round=st.sampled_from([None, None, 1]),
    name=st.sampled_from([None, None, "Beta"]),
    difficulty=ranges,
    regret=ranges,
    all_versions=st.booleans(),
    sort=st.sampled_from(SORTS),
    limit=st.sampled_from([None, 0, 1, 3]),
    offset=st.integers(0, 5),
)


def test_of_two_the_upper_one_counts_and_the_newest_is_that_of_all() -> None:
    low = [row("Alpha", 0, status="active"), row("Alpha", 1), row("Beta", 0)]
    high = [row("Alpha", 0, held=False, status="retired"), row("Beta", 1), row("Gamma", 4, held=False)]
    with stacked([low, high]) as stack:
        found, total = stacking.page(stack, Query())
        assert ([one.id for one in found], total) == (["spade/Alpha-v1", "spade/Beta-v1"], 2)
        found, _ = stacking.page(stack, Query(all_versions=True, name="Alpha"))
        assert [(one.version, one.status) for one in found] == [(0, "retired"), (1, "admitted")]


def test_what_no_registry_holds_hides_nothing() -> None:
    with stacked([[row("Alpha", 0), row("Alpha", 3, held=False)]]) as stack:
        assert [one.id for one in stacking.page(stack, Query())[0]] == ["spade/Alpha-v0"]
    lost, other = [row("Alpha", 0), row("Alpha", 3, held=False)], [row("Alpha", 1)]
    for found in ([lost, other], [other, lost]):
        with stacked(found) as stack:
            assert [one.id for one in stacking.page(stack, Query())[0]] == ["spade/Alpha-v1"]


@given(registries, queries)
def test_the_stack_answers_as_one_registry_would(found: list[list[Row]], query: Query) -> None:
    wanted = answer(found, query)
    last = None if query.limit is None else query.offset + query.limit
    with stacked(found) as stack:
        part, total = stacking.page(stack, query)
        assert total == len(wanted)
        assert [seen(one) for one in part] == [
            (one.id, one.status, one.domain, one.regret) for one in wanted[query.offset : last]
        ]


BANDS = {
    "difficulty": ((0.0, 0.25), (0.25, 1.0)),
    "regret": ((-1.0, 0.0), (0.0, 1.0)),
    "success": ((0.0, 1.0),),
    "steps": ((1.0, 10.0), (11.0, 1000.0)),
}


@settings(max_examples=25)
@given(registries, queries)
def test_columns_in_memory_answer_as_the_database_does(found: list[list[Row]], query: Query) -> None:
    query = replace(query, text="", limit=None, offset=0)
    with stacked(found) as stack:
        read = columns.read(stack, all_versions=query.all_versions)
        met = counting.masks(read, query)
        order = counting.in_order(read, counting.meeting(read, met, None), query.sort)
        names = [read.coded["name"].values[code] for code in read.coded["name"].codes[order]]
        wanted, _ = stacking.page(stack, query)
        assert names == [one.name for one in wanted]
        rows = [reading.rows(part, read.keys[read.parts == k].tolist()) for k, part in enumerate(stack)]
        assert [rows[int(read.parts[at])][int(read.keys[at])] for at in order] == wanted
        for facet, values in counting.facets(read, met, None, BANDS).items():
            for counted in values:
                narrowed = replace(query, **{facet: counted.value})
                assert stacking.page(stack, narrowed)[1] == counted.versions, (facet, counted)


@settings(max_examples=20)
@given(registries)
def test_ranks_fall_and_every_word_counts(found: list[list[Row]]) -> None:
    with stacked(found) as stack:
        ranked, total = stacking.page(stack, Query(text="alph count", sort="rank", all_versions=True))
        plain = stacking.page(stack, Query(text="alph count", all_versions=True))[0]
        assert sorted(ranked, key=lambda one: one.version) == plain
        assert len(plain) == total
        parts = zip(stack, stacking.scopes_of(stack, all_versions=True), strict=True)
        ranks = {
            one.id: rank
            for part, scope in parts
            for rank, one in reading.sorted_rows(
                part, Query(text="alph count", sort="rank", all_versions=True), scope
            )
        }
        assert [ranks[one.id] for one in ranked] == sorted(ranks.values(), reverse=True)


def test_a_name_weighs_more_than_a_rule() -> None:
    low = [row(name, 0) for name in ("Alpha", "Beta", "Gamma")]
    with stacked([low], rules={"spade/Alpha-v0": "gamma gamma gamma"}) as stack:
        found, _ = stacking.page(stack, Query(text="gamma", sort="rank"))
        assert [one.name for one in found] == ["Gamma", "Alpha"]


@given(st.text() | st.text(alphabet="a\"*^-+():{}' \x00", min_size=1))
def test_no_text_is_a_command_of_the_search(text: str) -> None:
    with stacked([[row("Alpha", 0)]]) as stack:
        assert stacking.page(stack, Query(text=text))[1] in (0, 1)


def test_compared_from_the_smaller_side_the_answer_is_the_same() -> None:
    many = [row(f"Env{chr(65 + k // 26)}{chr(97 + k % 26)}", k % 3) for k in range(600)]
    few = [replace(many[k], version=many[k].version + 1) for k in (3, 500)] + [many[7]]
    for stack_of in ([few, many], [many, few]):
        with stacked(stack_of) as stack:
            found, total = stacking.page(stack, Query(offset=598, limit=1))
            assert total == 600
            assert [one.id for one in found] == [answer(stack_of, Query())[598].id]
            assert stacking.page(stack, Query(all_versions=True))[1] == 602


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"domain": "gmaes"}, "there is no domain 'gmaes'; did you mean games"),
        ({"status": "retierd"}, "did you mean retired"),
        ({"sort": "regrets"}, "did you mean regret"),
        ({"origin": "x"}, "there are seed, generated"),
        ({"offset": -1}, "begins before the first"),
        ({"round": 10**20}, "larger than any"),
        ({"limit": 10**20}, "larger than any"),
        ({"sort": "rank"}, "only words that are searched for"),
        ({"regret": (1.0, 0.0)}, "write the lower end first"),
    ],
)
def test_questions_that_cannot_be(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        Query(**wrong)


def row(name: str, version: int, *, held: bool = True, status: str = "admitted") -> Row:
    return Row(name, version, held, "games", "counting", status, None, None, None)


def seen(one: Listed) -> tuple[str, str, str, float | None]:
    return one.id, one.status, one.domain, one.regret


def answer(found: list[list[Row]], query: Query) -> list[Row]:
    """The model: what the answer would be, one row after the other."""
    top = {one.id: one for part in found for one in part}
    held = {one.id for part in found for one in part if one.held}
    there = [one for one in top.values() if one.id in held]
    newest = {one.name: max(o.version for o in there if o.name == one.name) for one in there}
    wanted = [one for one in there if query.all_versions or one.version == newest[one.name]]
    wanted = [one for one in wanted if _meets(one, query)]
    wanted.sort(key=lambda one: (one.name, one.version))
    if query.sort != "name":
        by = {"newest": "round"}.get(query.sort, query.sort)  # the round is the hour of its admission
        known = [one for one in wanted if getattr(one, by) is not None]
        known.sort(key=lambda one: -getattr(one, by))
        wanted = known + [one for one in wanted if getattr(one, by) is None]
    return wanted


def _meets(one: Row, query: Query) -> bool:
    for name in ("domain", "skill", "status", "round", "name"):
        if getattr(query, name) not in (None, getattr(one, name)):
            return False
    for name in ("difficulty", "regret"):
        low, high = getattr(query, name)
        value = getattr(one, name)
        if low > -9 and (value is None or not low <= value <= high):
            return False
    return (one.name + one.skill).casefold().count(query.text) > 0


BLANK = [Database.in_memory(lambda _: None) for _ in range(4)]


@contextmanager
def stacked(found: list[list[Row]], rules: dict[str, str] | None = None) -> Iterator[list[Any]]:
    """Open databases with these rows, the lowest registry first. They are made once: that takes long."""
    with ExitStack() as held:
        stack = [held.enter_context(blank.reading()) for blank in BLANK[: len(found)]]
        for connection, part in zip(stack, found, strict=True):
            for table in ("versions", "skills", "statuses", "measurements", "texts"):
                connection.exec_driver_sql(f"DELETE FROM {table}")
            fill(connection, part, rules or {})
        yield stack


def fill(connection: Any, part: list[Row], rules: dict[str, str]) -> None:
    for held in (True, False):
        files = [(header(one), report(one, rules.get(one.id, ""))) for one in part if one.held is held]
        filing.enter_all(connection, files, held=held)
    later = [(one.status, one.regret, one.id) for one in part]
    if later:
        connection.exec_driver_sql("UPDATE versions SET status = ?, regret = ? WHERE id = ?", later)


def header(one: Row) -> Header:
    return Header(
        id=EnvId(one.name, one.version),
        title="A title",
        summary="A summary.",
        domain=one.domain,  # type: ignore[arg-type]
        skills=(one.skill,),
        origin="seed",
        max_episode_steps=5,
        license="Apache-2.0",
        contract=1,
    )


def report(one: Row, rules: str) -> dict[str, Any]:
    hour = None if one.round is None else f"2026-01-01T0{one.round}:00:00+00:00"
    scores, gates = {"difficulty": one.difficulty}, [{"saw": {"rules": rules}}]
    hashes = {"code_sha256": "0", "file_sha256": "0"}
    return {**hashes, "scores": scores, "round": one.round, "admitted_at": hour, "gates": gates}
