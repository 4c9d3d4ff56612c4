"""What may fill a block, by where it stands; what plays teach the curriculum; settings that cannot be."""

from __future__ import annotations

from typing import Any

import pytest

from spade_envs.errors import UsageError
from spade_train.bounds import check_settings
from spade_train.config import SelfPlayConfig
from spade_train.curriculum import Candidate, Result
from spade_train.filling import candidates, results
from spade_train.memory import Facts
from spade_train.playing.play import Episode, Task
from spade_train.rewards.uncertainty import Tally
from spade_train.rounds import Block, Played

POOL = ("spade/Seed-v0", "spade/Easy-v0")
STATUSES = {
    "spade/Easy-v0": "mastered",
    "spade/Mine-v0": "active",
    "spade/Hard-v0": "too_hard",
    "spade/Out-v0": "active",
    "spade/New-v0": "admitted",
    "spade/Old-v0": "retired",
    "spade/Gone-v0": "active",
}


def facts(env_id: str) -> Facts | None:
    return None if "Gone" in env_id else Facts("games", (env_id[6:-3].lower(),), levels=3)


def test_candidates_follow_from_where_environments_stand() -> None:
    found = candidates(POOL, STATUSES, ["spade/Out-v0"], facts)
    assert found == [
        Candidate("spade/Seed-v0", ("seed",), fixed=True),
        Candidate("spade/Easy-v0", ("easy",), fixed=True, mastered=True),
        Candidate("spade/Hard-v0", ("hard",), shut=True),
        Candidate("spade/Mine-v0", ("mine",)),
    ]
    assert [one.env_id for one in candidates(POOL, STATUSES, [], facts, own=False)] == list(POOL)
    every = dict.fromkeys(POOL, "quarantined")
    assert candidates(POOL, every, [], facts) == [Candidate(name, fixed=True) for name in POOL]


def episode(success: bool, end: Any = "terminated") -> Episode:
    return Episode(Task("spade/Seed-v0", 1), (1,), (1,), (1,), float(success), success, 1.0, 1, end)


@pytest.mark.parametrize(("levels", "known"), [(True, 3), (False, 1)])
def test_results_count_unhinted_plays_that_count(levels: bool, known: int) -> None:
    plain = (episode(True), episode(False), episode(True, "fault"))
    block = Block("spade/Seed-v0", 1, plain, (episode(True), episode(True)))
    played = Played("spade/Seed-v0", (block,), level=2)
    assert results([played], facts, levels) == [Result("spade/Seed-v0", 2, known, Tally(1, 2), 0.5)]


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ({"band_low": 0.8}, "band_low is 0.8"),
        ({"band_high": 1.2}, "rates, from 0 to 1"),
        ({"replay_share": -0.1}, "neither is negative"),
        ({"replay_share": 0.6, "reference_share": 0.6}, "together they are at most 1"),
        ({"evaluate_rounds": -1}, "evaluate_rounds is -1"),
        ({"evaluate_plays": 0}, "evaluate_plays is 0"),
    ],
)
def test_settings_that_cannot_be_are_told(settings: dict[str, Any], found: str) -> None:
    with pytest.raises(UsageError, match=found):
        check_settings(SelfPlayConfig(**settings), completion_tokens=160)
