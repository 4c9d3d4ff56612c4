"""Rounds are taken back whole or in parts, and nothing is lost that somebody may still want."""

from __future__ import annotations

from pathlib import Path

import pytest
from killing import LUCKY

from spade_envs import Registry
from spade_envs.errors import UsageError
from spade_train.memory import Memory, Record
from spade_train.runs.checkpoints import (
    RunState,
    checkpoint_at,
    checkpoints,
    keep_state,
    mark,
    restore,
    state_at,
)
from spade_train.runs.folder import RunFolder
from spade_train.runs.rollback import PARTS, roll_back
from spade_train.watching import Watch


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    """A run of three rounds that admitted one environment in each; weights of the last two are there."""
    run, memory = RunFolder.create(tmp_path, "run"), Memory()
    registry = Registry(run.registry)
    for number in range(1, 4):
        registry.add(LUCKY.replace("Say anything; some", f"Round {number}; some"), {})
        memory.add(Record(number, f"spade/Lucky-v{number - 1}", success=0.5))
        run.append("rounds.jsonl", [{"round": number - 1}])
        held = {str(entry.header.id): entry.file_sha256 for entry in registry.entries()}
        state = RunState(number, memory.state(), held, run.sizes(), Watch().state())
        keep_state(run, state)
        if number > 1:
            folder = run.checkpoints / f"checkpoint-{number}"
            folder.mkdir(parents=True)
            mark(folder, state)
    return run


def ids(run: RunFolder) -> list[str]:
    return [str(env_id) for env_id in Registry(run.registry).ids()]


def test_all_parts_go_back_together(run: RunFolder) -> None:
    done = roll_back(run, 2)
    assert (done.parts, done.round) == (PARTS, 2)
    assert ids(run) == ["spade/Lucky-v0", "spade/Lucky-v1"]
    assert {path.name for path in done.withdrawn} == {"v2.py", "v2.json"}
    assert all(path.exists() for path in done.withdrawn)
    assert len(run.read("rounds.jsonl")) == 2
    (left,) = checkpoints(run)
    assert (left.round, len(left.memory())) == (2, 2)
    with pytest.raises(UsageError, match="has no state after round 3"):
        state_at(run, 3)


@pytest.mark.parametrize(
    ("part", "pool", "memory", "rounds", "goes_on"),
    [("memory", 3, 1, 3, 3), ("pool", 1, 3, 3, 3), ("records", 3, 3, 1, 3)],
)
def test_a_part_goes_back_alone(
    part: str, pool: int, memory: int, rounds: int, goes_on: int, run: RunFolder
) -> None:
    roll_back(run, 1, [part])  # type: ignore[list-item]
    newest = checkpoint_at(run)
    assert newest is not None
    assert (len(ids(run)), len(newest.memory()), len(run.read("rounds.jsonl")), newest.round) == (
        *(pool, memory, rounds, goes_on),
    )


def test_a_part_that_went_back_leaves_the_states_of_rounds_as_they_were(run: RunFolder) -> None:
    before = [state_at(run, n) for n in (1, 2, 3)]
    roll_back(run, 1, ["memory"])
    assert [state_at(run, n) for n in (1, 2, 3)] == before
    roll_back(run, 2, ["weights"])
    assert [state_at(run, n) for n in (1, 2)] == before[:2]
    roll_back(run, 2)
    assert len(ids(run)) == 2


def test_weights_alone_keep_what_was_learned_about_designs(run: RunFolder) -> None:
    roll_back(run, 2, ["weights"])
    newest = checkpoint_at(run)
    assert newest is not None
    assert (newest.round, len(newest.memory()), len(ids(run))) == (2, 3, 3)


def test_a_round_without_weights_is_refused_and_nothing_changes(run: RunFolder) -> None:
    with pytest.raises(UsageError, match=r"no checkpoint after round 1; it has: 2, 3\."):
        roll_back(run, 1)
    assert len(ids(run)) == 3
    assert [one.round for one in checkpoints(run)] == [2, 3]
    with pytest.raises(UsageError, match="has no state after round 9"):
        roll_back(run, 9, ["memory"])


def test_a_half_written_checkpoint_never_counts(run: RunFolder) -> None:
    half = run.checkpoints / "checkpoint-4"
    half.mkdir()
    (half / "trainer_state.json").write_text("{}")
    newest = checkpoint_at(run)
    assert newest is not None
    assert newest.round == 3
    (run.registry / "Lucky" / "v3.json").write_text("{}")  # admission was killed between its two files
    run.append("rounds.jsonl", [{"round": 3}])
    restore(run, newest)
    assert not half.exists()
    assert not (run.registry / "Lucky" / "v3.json").exists()
    assert Registry(run.registry).next_version("Lucky") == 3, "the number is free again"
    assert len(run.read("rounds.jsonl")) == 3


def test_a_broken_state_is_no_checkpoint(run: RunFolder) -> None:
    (run.checkpoints / "checkpoint-3" / "selfplay.json").write_text("{")
    newest = checkpoint_at(run)
    assert newest is not None
    assert newest.round == 2
