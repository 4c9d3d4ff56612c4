"""What was learned and lost: then from a run's records, now from an evaluation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from spade_train.evaluation import Item, Try
from spade_train.evaluation.forgetting import Then, kept, played, run_of
from spade_train.rewards.uncertainty import Tally
from spade_train.runs.folder import RunFolder


def play(round_: int, success: bool, **more: Any) -> dict[str, Any]:
    return {
        "round": round_,
        "env_id": "spade/A-v0",
        "level": 1,
        "hinted": False,
        "turns": 1,
        "end": "terminated",
        "success": success,
        **more,
    }


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    entries = [play(round_, round_ > 0) for round_ in (0, 2, 5, 9) for _ in range(4)]
    entries += [play(9, False, hinted=True), play(9, False, end="fault"), play(9, False, turns=0)]
    entries += [play(3, True, level=2), {**play(1, False), "env_id": "spade/B-v0"}]
    (tmp_path / "plays.jsonl").write_text(
        "".join(json.dumps(one) + "\n" for one in entries) + '{"round": 9, "env'
    )
    return RunFolder(tmp_path)


def test_then_is_the_last_rounds_of_each_environment_and_level(run: RunFolder) -> None:
    assert played(run) == {
        ("spade/A-v0", 1): Then(Tally(12, 12), 9),
        ("spade/A-v0", 2): Then(Tally(1, 1), 3),
        ("spade/B-v0", 1): Then(Tally(0, 1), 1),
    }


def now(wins: int, plays: int) -> list[Try]:
    return [Try(n < wins, 0.0, True, 1, 1, "terminated") for n in range(plays)]


def test_a_sure_fall_is_forgotten_and_a_small_one_is_not(run: RunFolder) -> None:
    tries = {
        Item("spade/A-v0", 1): now(1, 4),
        Item("spade/A-v0", 2): now(1, 4),
        Item("spade/A-v0", 1, 2): now(0, 4),
        Item("spade/B-v0", 1): now(0, 4),
        Item("spade/C-v0", 1): now(0, 4),
    }
    found = kept(played(run), tries)
    assert [(one.env_id, one.level, one.is_forgotten) for one in found] == [
        ("spade/A-v0", 1, True),
        ("spade/A-v0", 2, False),
        ("spade/B-v0", 1, False),
    ]
    assert (found[0].then, found[0].now) == (Tally(12, 12), Tally(2, 8))


def test_the_run_of_a_checkpoint_is_found(tmp_path: Path) -> None:
    run = tmp_path / "mine"
    (run / "checkpoints" / "checkpoint-3").mkdir(parents=True)
    (run / "checkpoints" / "config.json").write_text("{}")
    assert run_of(run) is None
    (run / "config.json").write_text('{"selfplay": {}}')
    assert run_of(run) == run_of(run / "checkpoints" / "checkpoint-3") == run
    assert run_of(tmp_path) is None
