"""Hinted plays repeat the seeds of the others, and further plays go where regret is vague."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from train_stand_ins import Count, Wide

from spade_train.playing import measuring
from spade_train.playing.blind import Blind
from spade_train.playing.measuring import Place, Player
from spade_train.playing.play import Episode, Limits, Task
from spade_train.playing.prompts import EXAMPLE_SEED
from spade_train.rewards.regret import Regret

Outcome = Callable[[Task, random.Random], float]


def player(monkeypatch: pytest.MonkeyPatch, outcome: Outcome, group: int = 4) -> tuple[Player, list[Task]]:
    """A player whose episodes return what ``outcome`` says."""
    played: list[Task] = []
    rng = random.Random(0)

    def play(_policy: object, tasks: list[Task], *_: object) -> list[Episode]:
        played.extend(tasks)
        returns = [outcome(task, rng) for task in tasks]
        return [
            Episode(task, (1,), (2,), (1,), r, r > 0.5, 1.0, 1, "terminated")
            for task, r in zip(tasks, returns, strict=True)
        ]

    monkeypatch.setattr(measuring, "play", play)
    return Player(None, group, lambda _: Count(), Limits()), played  # type: ignore[arg-type]


def test_every_block_is_played_both_ways_from_its_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    who, tasks = player(monkeypatch, lambda task, _: float(task.hinted))
    one, other = who.blocks([Place("a", (1, 2)), Place("b", (3,))])
    assert [(block.env_id, block.seed) for block in (*one.blocks, *other.blocks)] == [
        *(("a", 1), ("a", 2), ("b", 3)),
    ]
    assert len(tasks) == 3 * 2 * 4
    for block in one.blocks:
        assert [e.task for e in block.plain] == [Task("a", block.seed)] * 4
        assert [e.task for e in block.hinted] == [Task("a", block.seed, hinted=True)] * 4
    assert (one.success, one.hinted_success) == (0.0, 1.0)
    assert one.regret is not None
    assert one.regret.mean == 1.0


def test_further_plays_go_to_vague_regrets_until_they_are_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    who, tasks = player(monkeypatch, lambda task, rng: float(rng.random() < 0.5))
    before = who.blocks([Place("a", (1, 2)), Place("b", (3, 4))])
    count = len(tasks)
    after = who.narrow(before, half_width=0.05, plays=20, rng=random.Random(1))
    assert len(tasks) - count == 20, "everything is spent: no interval of coin tosses becomes so narrow"
    assert [one.blocks for one in after] == [one.blocks for one in before], "the batch stays as it was"
    for old, new in zip(before, after, strict=True):
        seeds = [block.seed for block in new.extra]
        assert seeds
        assert len({*seeds, *(block.seed for block in new.blocks)}) == len(seeds) + 2, "new seeds"
        assert width(new.regret) < width(old.regret)


def test_two_designs_that_are_the_same_keep_their_own_plays(monkeypatch: pytest.MonkeyPatch) -> None:
    who, _ = player(monkeypatch, lambda task, rng: float(rng.random() < 0.5))
    before = who.blocks([Place("a", (1, 2)), Place("a", (3, 4))])
    after = who.narrow(before, half_width=0.05, plays=12, rng=random.Random(1))
    assert [one.blocks for one in after] == [one.blocks for one in before]
    assert all(one.extra for one in after)


@pytest.mark.parametrize(("half_width", "plays"), [(10.0, 100), (0.01, 0), (0.01, 1)])
def test_nothing_is_played_where_nothing_is_asked_for(
    half_width: float, plays: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    who, tasks = player(monkeypatch, lambda task, rng: float(rng.random() < 0.5))
    before = who.blocks([Place("a", (1, 2))])
    count = len(tasks)
    assert who.narrow(before, half_width, plays, random.Random(1)) == before
    assert len(tasks) == count


def width(regret: Regret | None) -> float:
    assert regret is not None
    return regret.half_width


def test_what_most_hinted_plays_solve_is_played_with_the_hint_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    who, tasks = player(monkeypatch, lambda task, _: float(task.hinted and task.env_id == "told"))
    before = who.blocks([Place("told", (1,)), Place("hard", (2,))])
    count = len(tasks)
    told, hard = who.blind(before, 5, random.Random(1))
    assert len(tasks) - count == len(told.blind) == 5
    assert all(one.task.blind and one.task.hinted for one in told.blind)
    assert (told.blind_success, hard) == (1.0, before[1])
    assert told.blocks == before[0].blocks
    assert who.blind(before, 0, random.Random(1)) == before


def test_blind_play_sees_another_episode_and_is_paid_for_its_own() -> None:
    env = Blind(Wide(), Wide())
    assert env.reset(seed=3)[0] == "It is 250003."
    assert env.hint() == "Say 4."
    for number in (4, 5, 6):
        seen, reward, over, _, info = env.step(f"<answer>{number}</answer>")
    assert (seen, reward, over, info["is_success"]) == ("It is 250006.", 1.0, True, True)
    assert env.reset(seed=EXAMPLE_SEED)[0] == "It is 900000.", "worked examples are shown as they are"
    assert env.step(env.expert_text())[0] == "It is 900001."
