"""What a round puts on record: plays of all processes together, and statuses that decide what is played next."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest
from killing import LUCKY

from spade_envs import Registry
from spade_envs.records import reading
from spade_envs.registry import Rules
from spade_train.standing import Standing, Tallied, merged
from spade_train.world import World

WON = Tallied("spade/Lucky-v0", "a test", {1: [1.0, 1.0], 2: [1.0]}, {1: [1.0, 1.0]}, 3, 2, 6, 0)
LOST = replace(WON, plain={1: [0.0]}, hinted={1: [1.0]}, won=0, hinted_won=1, turns=2, faults=1)


def test_plays_of_one_environment_come_together_by_seed() -> None:
    (one,) = merged([WON, LOST], "run", 4)
    assert (one.plays, one.hinted_plays, one.faults) == (4, 3, 1)
    assert (one.success, one.hinted_success, one.mean_return, one.mean_steps) == (0.75, 1.0, 0.75, 2.0)
    assert one.regret == pytest.approx(1 / 3)  # of seed 1, which was played both ways: 1 less 2/3
    assert merged([], "run", 4) == []


def test_what_no_play_counts_of_is_not_known() -> None:
    (one,) = merged([replace(WON, plain={}, hinted={}, won=0, hinted_won=0, turns=0)], "run", 0)
    assert (one.success, one.hinted_success, one.regret, one.mean_steps) == (None, None, None, None)


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    made = Registry(tmp_path / "registry")
    made.add(LUCKY, {"active_pool": {"enters": True}})
    return made


class Together(World):
    """Two processes, played by two threads that exchange values."""

    def __init__(self, rank: int, values: list[object], barrier: threading.Barrier) -> None:
        object.__setattr__(self, "rank", rank)
        object.__setattr__(self, "size", 2)
        self.values, self.barrier = values, barrier

    __setattr__ = object.__setattr__

    def gather(self, value):  # type: ignore[no-untyped-def]
        self.values[self.rank] = value
        self.barrier.wait(30)
        found = list(self.values)
        self.barrier.wait(30)
        return found


def test_the_first_process_writes_and_all_know(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tallied, "of", classmethod(lambda cls, played, why: replace(played, why=why)))
    values, barrier = [None, None], threading.Barrier(2)
    standings = [
        Standing(registry, "run", Rules(mastered_rounds=1), Together(k, values, barrier)) for k in (0, 1)
    ]
    assert all(one.is_active(WON.env_id) and one.may_play(WON.env_id) for one in standings)
    threads = [threading.Thread(target=one.after, args=(0, [], [WON], set())) for one in standings]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(one.may_play(WON.env_id) for one in standings)
    assert Standing(registry, "run").may_play("spade/NeverSeen-v0")
    with registry.records.reading() as connection:
        (measured,) = reading.measurements(connection, WON.env_id)
        (choice,) = reading.choices(connection, WON.env_id)
    assert (measured.plays, measured.success) == (6, 1.0)
    assert choice.reason == "it is played beside the designs, from the pool"


def test_who_cheats_is_quarantined_on_record(registry: Registry) -> None:
    standing = Standing(registry, "run")
    (change,) = standing.after(0, [], [], {WON.env_id}).changes
    assert (change.status, change.round) == ("quarantined", 0)
    assert not standing.may_play(WON.env_id)
    assert standing.after(1, [], [], {WON.env_id}).changes == ()  # it is there already
