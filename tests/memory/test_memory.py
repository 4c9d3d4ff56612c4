"""The memory: bounded, resumable, kept up to date, and readable as earlier versions wrote it."""

from __future__ import annotations

import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from spade_envs.records import Measured
from spade_train.designer.slots import render, templates
from spade_train.memory import Memory, Record

SOURCE = render(templates()["hunt"].examples[0], 5)

ids = st.sampled_from([None, "spade/A-v0", "spade/B-v0", "spade/C-v1"])
rates = st.none() | st.floats(0, 1)
admitted = st.builds(
    Record,
    st.integers(0, 99),
    ids.filter(bool),
    st.sampled_from(["", "A", "B"]),
    st.sampled_from(["", "Sort the words.", "Walk through the maze.", "Words are sorted."]),
    skills=st.lists(st.sampled_from(["x", "y"]), max_size=2).map(tuple),
    success=rates,
    hinted=rates,
    regret=st.none() | st.floats(-1, 1),
)
refused = st.builds(
    Record, st.integers(0, 99), ids, reason=st.text(), tree=st.sampled_from(["", "t", "u", "v"])
)
records = admitted | refused


def played(name: str, success: float | None = None, round_: int = 0) -> Record:
    return Record(round_, name, name, f"It is {name}.", success=success)


def measured(name: str, round_: int, success: float | None, regret: float | None = None) -> Measured:
    low, high = (None, None) if regret is None else (regret - 0.1, regret + 0.1)
    plays = 4 if success is not None else 0
    return Measured(name, "run", round_, plays, plays, 1, success, success, success, regret, low, high, 2.0)


def test_a_record_is_made_of_a_source() -> None:
    record = Record.of(SOURCE, 5, id="spade/FoxDen-v2")
    assert (record.id, record.title, record.status, record.domain) == (
        "spade/FoxDen-v2",
        "Fox Den",
        "admitted",
        "games",
    )
    assert record.with_measures(measured("spade/FoxDen-v2", 6, 0.25, 0.5)).text() == (
        "Fox Den: Name the secret number of the fox. Success 0.25, with the hint 0.25. Plays that broke down: 1."
    )
    assert record.text(3) == "Fox Den: Name the secret number of the fox. Tried 3 times."
    again = Record.of(SOURCE, 5, reason="design:1:2: random play wins.\n  Ask for more.")
    assert (again.id, again.status) == ("spade/FoxDen-v0", "refused")
    assert again.text().endswith("Refused: random play wins. Ask for more.")
    assert Record.of("no source", 5, reason="no header").text() == "Refused: no header"


def test_measures_of_later_plays_take_the_place_of_older_ones() -> None:
    memory = Memory([played("A"), played("B")])
    memory.learn(3, [measured("A", 3, 0.5, 0.25), measured("elsewhere", 3, 0.1)], {"A": ["x"]})
    assert memory.frontier() == ["A"]
    memory.learn(4, [measured("A", 4, 1.0)], {})
    (a, b) = memory.records
    assert (a.success, a.regret, a.regret_low, a.measured, a.plays, a.faults) == (1.0, 0.25, 0.15, 4, 8, 1)
    assert (b.success, b.measured) == (None, None)
    assert memory.frontier() == []
    memory.learn(5, [Measured("A", "run", 5, 0, 0)], {})
    assert memory.records[0].measured == 4, "of a round in which no play counted nothing is learned"


def test_a_round_that_is_played_again_changes_nothing() -> None:
    memory = Memory(
        [played("A", 0.5), Record(0, "A", reason="again", tree="t"), Record(0, "A", reason="no", tree="u")]
    )
    state = memory.state()
    for record in memory.records:
        memory.add(record)
    assert memory.state() == state
    assert len(memory) == 3


def test_what_was_shown_and_where_things_stand_is_noted_for_the_whole_idea() -> None:
    one = [played(f"spade/Sort-v{n}") for n in range(2)]
    memory = Memory([*one, Record(0, "spade/Sort-v2", "Sort", one[0].idea, reason="no"), played("Other")])
    memory.note(7, {"spade/Sort-v0": "mastered", "spade/Sort-v2": "active"}, {"spade/Sort-v1"})
    assert [one.shown for one in memory.records] == [7, 7, 7, None]
    assert [one.status for one in memory.records] == ["mastered", "admitted", "refused", "admitted"]
    memory.note(8, {}, {""})
    assert [one.shown for one in memory.records] == [7, 7, 7, None]


def test_refused_designs_fill_half_and_the_longest_untouched_goes_first() -> None:
    memory = Memory((Record(n, reason=str(n), tree=str(n)) for n in range(9)), limit=4)
    assert [one.round for one in memory.records] == [5, 6, 7, 8], (
        "all of it, as long as nothing else is there"
    )
    for n in range(4):
        memory.add(played(f"N{n}", 0.5, n))
    assert [(one.refused, one.round) for one in memory.records] == [
        (True, 7),
        (True, 8),
        (False, 2),
        (False, 3),
    ]
    memory.learn(9, [measured("N2", 9, 0.5)], {})
    memory.add(played("N4", 0.5, 9))
    assert [one.id for one in memory.records] == [None, None, "N2", "N4"]


@given(st.lists(records, max_size=12), st.integers(2, 6))
def test_the_memory_is_bounded_and_the_newest_is_in_it(content: list[Record], limit: int) -> None:
    memory = Memory(limit=limit)
    for round_, record in enumerate(content):
        before = set(memory.records)
        memory.add(replace(record, round=round_))
        kept = memory.records
        assert len(kept) <= limit
        assert (kept[-1].name, kept[-1].reason) == (record.name, record.reason)
        gone = [one for one in before if one not in kept and one.name not in {record.name}]
        if any(not one.refused for one in gone):
            assert 2 * sum(one.refused for one in kept) <= limit, "refused ones push no other out beyond half"


@given(st.lists(records, max_size=8), st.lists(st.tuples(ids.filter(bool), rates), max_size=6))
def test_the_state_is_json_and_restores_everything(
    content: list[Record], plays: list[tuple[str, float | None]]
) -> None:
    memory = Memory(content, limit=5)
    for round_, (name, success) in enumerate(plays):
        memory.learn(round_, [measured(name, round_, success, success)], {name: ["x", "y"]})
    memory.note(3, {"spade/A-v0": "active"}, {"spade/A-v0"})
    restored = Memory.from_state(json.loads(json.dumps(memory.state())))
    assert restored.records == memory.records
    assert restored.state() == memory.state()
    assert restored.profile() == memory.profile()
    for one in (memory, restored):  # and both go on alike
        one.add(Record(9, "spade/New-v0", "New", "Sort the words."))
    assert restored.state() == memory.state()
    assert restored.recall(9) == memory.recall(9)


def test_states_of_earlier_versions_are_read() -> None:
    old = {
        "round": 1,
        "id": "spade/FoxDen-v0",
        "title": "Fox Den",
        "idea": "Name the secret number of the fox.",
        "skills": ["search"],
        "success": 0.5,
        "hinted": 0.75,
        "regret": 0.25,
        "reason": None,
    }
    memory = Memory.from_state(
        {"limit": 200, "records": [old, {**old, "id": "spade/FoxDen-v1", "reason": "no"}]}
    )
    assert (memory.limit, len(memory), memory.profile()) == (200, 2, ())
    assert memory.frontier() == ["spade/FoxDen-v0"]
    assert len({one.key for one in memory.records}) == 1


def test_a_full_memory_is_small() -> None:
    memory = Memory(limit=80)
    for n in range(120):
        memory.add(Record.of(SOURCE.replace("Fox Den", f"Fox {n}"), n, reason="design: " + "x" * 2000))
        memory.learn(n, [measured("a", n, 0.5)], {"a": [f"skill-{n}-{k}" for k in range(99)]})
    assert len(json.dumps(memory.state())) < 200_000
