"""The memory: bounded, resumable, and its digest shows what to build on and what to avoid."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from spade_train.designer import Memory, Record
from spade_train.designer.slots import render, templates

rates = st.none() | st.floats(0, 1)
records = st.builds(
    Record,
    st.integers(0, 99),
    st.none() | st.just("spade/A-v0"),
    skills=st.lists(st.sampled_from(["x", "y"]), max_size=2).map(tuple),
    success=rates,
    hinted=rates,
    regret=st.none() | st.floats(-1, 1),
    reason=st.none() | st.text(),
)


def played(title: str, success: float, regret: float | None = 0.0) -> Record:
    return Record(0, title, title, "It is played.", success=success, regret=regret)


def test_a_record_is_made_of_a_source() -> None:
    source = render(templates()["hunt"].examples[0], 5)
    record = Record.of(source, 5, id="spade/FoxDen-v2", success=0.25, hinted=0.5, regret=0.25)
    assert (record.id, record.title, record.status) == ("spade/FoxDen-v2", "Fox Den", "admitted")
    assert record.text() == "Fox Den: Name the secret number of the fox. Success 0.25, with the hint 0.50."
    refused = Record.of(source, 5, reason="design:1:2: random play wins.\n  Ask for more.")
    assert (refused.id, refused.status) == ("spade/FoxDen-v0", "refused")
    assert refused.text().endswith("Refused: design:1:2: random play wins. Ask for more.")
    assert Record.of("no source", 5, reason="no header").text() == "Refused: no header"


def test_the_digest_shows_the_frontier_by_regret_and_the_latest_to_avoid() -> None:
    memory = Memory(
        [
            played("Even", 0.5, 0.1),
            played("Wanted", 0.2, 0.6),
            played("Easy", 0.95, 0.9),
            played("Middling", 0.12, 0.9),
            played("Hard", 0.05, 0.0),
            played("Unmeasured", 0.5, None),
            Record(0, "unplayed", "Unplayed"),
        ]
    )
    shown = [line.split()[2].rstrip(":") for line in memory.digest(good=3, bad=2).splitlines()]
    assert shown == ["Wanted", "Even", "Unmeasured", "Hard", "Easy"]
    assert "Too easy." in memory.digest(bad=2)
    assert Memory().digest() == ""


def test_the_oldest_is_forgotten_first() -> None:
    memory = Memory((played(f"N{n}", 0.5) for n in range(9)), limit=3)
    assert [record["id"] for record in memory.state()["records"]] == ["N6", "N7", "N8"]


def test_a_replayed_round_changes_nothing() -> None:
    memory = Memory([played("A", 0.5), Record(0, "A", reason="again")])
    memory.add(played("A", 0.5))
    assert len(memory) == 2


@given(st.lists(records, max_size=8))
def test_the_state_is_json_and_restores_everything(content: list[Record]) -> None:
    memory = Memory(content, limit=5)
    restored = Memory.from_state(json.loads(json.dumps(memory.state())))
    assert restored.state() == memory.state()
    assert restored.digest() == memory.digest()
