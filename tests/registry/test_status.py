"""Changes of status over a stack of registries, on record and taken back; a run rolled back and forth."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from life import admitted

from spade_envs.errors import RegistryError, UnknownEnvironment, UsageError
from spade_envs.records import Database, Measured, StatusChange, changes, filing, reading
from spade_envs.records.values import STATUSES, Status
from spade_envs.registry import Registry, add_registry, keep_round, registries, stack
from spade_envs.registry.history import history
from spade_envs.registry.overview import known
from spade_envs.registry.status import change, home

SHIPPED = "spade/LampRow-v0"


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Registry:
    monkeypatch.setenv("SPADE_REGISTRY", str(tmp_path / "user"))
    monkeypatch.setenv(stack.ADDED, "")
    return registries()[1]


def stands(env_id: str) -> str:
    found = known(env_id)
    assert found is not None
    return found.listed.status


def test_a_shipped_environment_is_retired_and_comes_back(user: Registry) -> None:
    assert stands(SHIPPED) == "active"
    (made,) = change([SHIPPED, SHIPPED], "retired", "  it is\x1b[2J known by heart ", user)
    assert made.reason == r"it is\x1b[2J known by heart"
    assert stands(SHIPPED) == "retired"
    found = known(SHIPPED)
    assert found is not None
    assert found.holder is registries()[0]
    assert change([SHIPPED], "retired", "again", user) == []
    change([SHIPPED], "active", "needed", user)
    told = [event.what.status for event in history(SHIPPED) if isinstance(event.what, StatusChange)]
    assert told == ["admitted", "active", "retired", "active"]  # what two registries know is told once
    with user.records.reading() as connection:
        assert reading.held(connection) == []


def test_all_change_or_none(user: Registry) -> None:
    with pytest.raises(UnknownEnvironment, match="no registry holds 'spade/NoSuch-v0'"):
        change([SHIPPED, "spade/NoSuch-v0"], "retired", "why not", user)
    assert stands(SHIPPED) == "active"
    with pytest.raises(UsageError, match="no reason is given"):
        change([SHIPPED], "retired", " \n", user)
    with pytest.raises(UsageError, match="did you mean retired"):
        change([SHIPPED], "retierd", "why not", user)  # type: ignore[arg-type]
    with pytest.raises(RegistryError, match="read-only"):
        change([SHIPPED], "retired", "why not", registries()[0])


def test_what_one_registry_borrows_stands_as_it_stood_below(user: Registry, tmp_path: Path) -> None:
    change([SHIPPED], "retired", "the user says so", user)
    run = Registry(tmp_path / "run")
    keep_round(run, "run", 0, measured=[Measured(SHIPPED, "run", 0, 8, success=0.5)])
    add_registry(run.root)
    found = known(SHIPPED)
    assert found is not None
    assert (found.listed.status, found.listed.success) == ("retired", 0.5)


def test_a_change_is_seen_where_it_is_written(user: Registry, tmp_path: Path) -> None:
    added = add_registry(tmp_path / "added")
    env_id = admitted(added)
    assert home(SHIPPED, registries(), user) is user
    assert home(env_id, registries(), user) is added
    keep_round(added, "run", 0, measured=[Measured(SHIPPED, "run", 0, 8)])
    assert home(SHIPPED, registries(), user) is added


def test_a_run_that_is_rolled_back_leaves_what_it_found(user: Registry) -> None:
    env_id = admitted(user, run="other", round=0)
    change([env_id], "too_hard", "measured", user, run="run", round=3)
    change([SHIPPED], "mastered", "measured", user, run="run", round=5)
    new = admitted(user, "Gadget", run="run", round=4)
    with user.own_records.writing() as connection:
        made = changes.roll_back(connection, "run", 3)
    assert {one.id: one.status for one in made} == {SHIPPED: "active", new: "retired"}
    assert {one.reason for one in made} == {"rolled back to the end of round 3 of run"}
    assert stands(env_id) == "too_hard"
    with user.own_records.writing() as connection:
        assert changes.roll_back(connection, "run", 3) == []
        assert {one.id: one.status for one in changes.roll_back(connection, "run", 5)} == {
            SHIPPED: "mastered",
            new: "active",
        }
        assert {one.id: one.status for one in changes.to_roll_back(connection, "run", -1)} == {
            SHIPPED: "active",
            new: "retired",
            env_id: "active",
        }
    change([SHIPPED], "quarantined", "by hand, afterwards", user)
    with user.own_records.writing() as connection:
        assert changes.roll_back(connection, "run", 9) == []


BLANK = Database.in_memory(lambda _: None)
moves = st.lists(st.tuples(st.sampled_from("ABC"), st.sampled_from(STATUSES), st.integers(0, 4)), max_size=12)


@settings(max_examples=50)
@given(moves, st.lists(st.integers(-1, 5), min_size=1, max_size=4))
def test_rolled_back_and_forth_everything_stands_as_at_the_end_of_that_round(
    moved: list[tuple[str, Status, int]], targets: list[int]
) -> None:
    moved.sort(key=lambda move: move[2])
    with BLANK.reading() as connection:
        for table in ("versions", "skills", "statuses", "texts"):
            connection.exec_driver_sql(f"DELETE FROM {table}")
        for name in "ABC":
            filing.enter(
                connection, header(name), {"code_sha256": name, "file_sha256": name, "run": "before"}
            )
        for name, status, round_ in moved:
            changes.change_status(connection, StatusChange(f"spade/{name}-v0", status, "why", "run", round_))
        for target in targets:
            changes.roll_back(connection, "run", target)
            for name in "ABC":
                until = [status for one, status, round_ in moved if one == name and round_ <= target]
                found = reading.one(connection, f"spade/{name}-v0")
                assert found is not None
                assert found.status == ["admitted", *until][-1]


def header(name: str):
    from test_store import source

    from spade_envs.contract import parse_header

    return parse_header(source(name))
