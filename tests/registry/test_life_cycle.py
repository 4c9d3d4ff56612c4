"""Where environments stand after what was measured: by hand, by property, and on record."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_store import source

from spade_envs.errors import UsageError
from spade_envs.records import Choice, Measured, changes, reading
from spade_envs.records.values import Status
from spade_envs.registry import Registry, keep_round, standings, take_back
from spade_envs.registry.life_cycle import Rules, crowded_out, verdict

RULES = Rules()
STATUSES = st.sampled_from(get_args(Status))
RATES = st.none() | st.floats(0, 1)


def measured(
    success: float | None, hinted: float | None = 1.0, *, regret_low: float = 0.0, faults: int = 0
) -> Measured:
    return Measured(
        "spade/Widget-v0",
        "run",
        0,
        8,
        8,
        faults,
        success,
        success,
        hinted,
        regret_low,
        regret_low,
        1.0,
        3.0,
        "then",
    )


MEASURED = st.builds(measured, RATES, RATES, regret_low=st.floats(-1, 1), faults=st.integers(0, 20))


@pytest.mark.parametrize(
    ("status", "history", "becomes"),
    [
        ("active", [measured(0.95)] * 3, "mastered"),
        ("active", [measured(0.95)] * 2, None),  # not for long
        ("active", [measured(0.9)] * 3, None),  # not above
        ("active", [measured(0.5), *[measured(0.95)] * 3], "mastered"),
        ("active", [*[measured(0.95)] * 2, measured(0.5)], None),
        ("active", [*[measured(0.95)] * 2, measured(None)], None),
        ("active", [measured(0.95, regret_low=0.3)] * 3, None),  # high regret stays active
        ("active", [measured(0.0, 0.05)] * 3, "too_hard"),
        ("active", [measured(0.0, 0.1)] * 3, None),  # not below
        ("active", [measured(0.0, None)] * 3, None),  # never played with the hint
        ("active", [measured(0.5, 0.0)] * 3, None),  # the hint is useless, the environment not too hard
        ("mastered", [measured(0.6)], "active"),
        ("mastered", [measured(0.7)], None),
        ("mastered", [measured(None)], None),
        ("too_hard", [measured(0.0, 0.4)], "active"),
        ("too_hard", [measured(0.0, 0.0)], None),
        ("admitted", [measured(0.95)] * 3, None),  # nothing is left to learn
        ("admitted", [measured(0.05)], None),
        ("admitted", [measured(None)], None),
        ("admitted", [measured(0.5)], "active"),  # its scores had kept it out
        ("retired", [measured(0.5, faults=16)] * 3, None),
        ("active", [measured(0.5, faults=16)], "quarantined"),
        ("active", [measured(0.5, faults=15)], None),
        ("mastered", [measured(0.5, faults=16)], "quarantined"),
        ("quarantined", [measured(0.5)] * 3, None),
        ("active", [], None),
    ],
)
def test_verdicts_by_hand(status: Status, history: list[Measured], becomes: Status | None) -> None:
    found = verdict(status, history, RULES)
    assert (found and found[0]) == becomes


@given(STATUSES, st.lists(MEASURED, max_size=6))
def test_a_verdict_is_a_change_with_a_reason_and_looks_no_further_back_than_it_says(
    status: Status, history: list[Measured]
) -> None:
    found = verdict(status, history, RULES)
    assert found == verdict(status, history[-RULES.rounds :], RULES)
    if found:
        assert found[0] != status
        assert any(character.isdigit() for character in found[1])
        if history[-1].regret_low > RULES.high_regret:  # type: ignore[operator]
            assert found[0] in ("active", "quarantined")


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"mastered_above": 1.2}, "mastered_above is 1.2; it is a rate"),
        ({"mastered_rounds": 0}, "mastered_rounds is 0"),
        ({"pool_size": 0}, "pool_size is 0"),
        ({"relapsed_below": 0.95}, "must rise in this order"),
    ],
)
def test_rules_that_cannot_be_are_refused(wrong: dict[str, float], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        replace(RULES, **wrong)  # type: ignore[arg-type]


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    made = Registry(tmp_path)
    for k, name in enumerate(("Widget", "Gadget", "Gizmo")):
        scores = {"difficulty": 0.2 * k, "diversity": 0.5, "stability": 1.0}
        made.add(source(name, k), {"active_pool": {"enters": True}, "scores": scores})
    return made


def test_the_least_difficult_and_diverse_leave_first_and_high_regret_last(registry: Registry) -> None:
    rules = replace(RULES, pool_size=1)
    with registry.records.reading() as connection:
        from spade_envs.records import Query

        active = reading.listed(connection, Query())
    assert [env_id for env_id, _ in crowded_out(active, rules)] == ["spade/Widget-v0", "spade/Gadget-v0"]
    promising = [replace(one, regret_low=0.5) if one.name == "Widget" else one for one in active]
    assert [env_id for env_id, _ in crowded_out(promising, rules)] == ["spade/Gadget-v0", "spade/Gizmo-v0"]
    assert crowded_out(active, RULES) == []
    assert crowded_out(active, replace(RULES, pool_size=3)) == []


def play(registry: Registry, round_: int, success: float, **options: object) -> list[tuple[str, str]]:
    one = replace(measured(success), round=round_)
    choice = Choice(one.id, "run", round_, "it is a test")
    found = keep_round(registry, "run", round_, measured=[one], choices=[choice], **options)  # type: ignore[arg-type]
    return [(change.id, change.status) for change in found]


def test_a_round_is_on_record_once_and_can_be_taken_back(registry: Registry) -> None:
    assert [play(registry, k, 0.95) for k in (0, 1, 1, 2)] == [[], [], [], [("spade/Widget-v0", "mastered")]]
    assert standings(registry)["spade/Widget-v0"] == "mastered"
    with registry.records.reading() as connection:
        assert [one.round for one in reading.measurements(connection, "spade/Widget-v0")] == [0, 1, 2]
        assert len(reading.choices(connection, "spade/Widget-v0")) == 3
        said = [(c.status, c.round) for c in reading.statuses(connection, "spade/Widget-v0")]
        assert said == [("admitted", None), ("active", None), ("mastered", 2)]
        assert reading.one(connection, "spade/Widget-v0").success == 0.95  # type: ignore[union-attr]
    take_back(registry, "run", 1)
    assert standings(registry)["spade/Widget-v0"] == "active"
    with registry.records.reading() as connection:
        assert [one.round for one in reading.measurements(connection, "spade/Widget-v0")] == [0]


def test_a_pool_that_is_too_large_shrinks_on_record(registry: Registry) -> None:
    assert play(registry, 0, 0.5, rules=replace(RULES, pool_size=2)) == [("spade/Widget-v0", "retired")]
    assert sorted(standings(registry).values()) == ["active", "active", "retired"]


def test_a_shared_pool_goes_back_by_changes_that_are_on_record(registry: Registry) -> None:
    for k in range(3):
        play(registry, k, 0.95)
    registry.add(source("Later", 9), {"run": "run", "round": 2, "active_pool": {"enters": True}})
    with registry.own_records.writing() as connection:
        back = changes.roll_back(connection, "run", 1)
        assert changes.roll_back(connection, "run", 1) == []  # it is there already
    assert {(c.id, c.status) for c in back} == {("spade/Widget-v0", "active"), ("spade/Later-v0", "retired")}
    with registry.records.reading() as connection:
        assert [c.status for c in reading.statuses(connection, "spade/Widget-v0")][-2:] == [
            "mastered",
            "active",
        ]


def test_what_another_registry_holds_stands_here_without_being_held(registry: Registry) -> None:
    one = replace(measured(0.5), id="spade/LampRow-v0")
    assert keep_round(registry, "run", 0, measured=[one]) == []
    assert standings(registry)["spade/LampRow-v0"] == "active"
    with registry.records.reading() as connection:
        assert reading.by_code(connection, reading.one(connection, one.id).code_sha256) == []  # type: ignore[union-attr]
    assert "spade/LampRow-v0" not in map(str, registry.ids())
