"""What a run leaves behind is whole, whenever it stops."""

from __future__ import annotations

import fcntl
import json
import threading
from pathlib import Path

import pytest

from spade_envs.errors import UsageError
from spade_train.runs.folder import RunFolder


def test_runs_never_share_a_folder(tmp_path: Path) -> None:
    first, second = (RunFolder.create(tmp_path / "runs", None) for _ in range(2))
    assert first.path != second.path
    RunFolder.create(tmp_path / "runs", "mine")
    with pytest.raises(UsageError, match="mine exists"):
        RunFolder.create(tmp_path / "runs", "mine")


def test_lines_are_whole_json(tmp_path: Path) -> None:
    run = RunFolder.create(tmp_path, "run")
    for number in range(3):
        run.append("rounds.jsonl", [{"round": number, "text": "line\nbreak"}])
    lines = (run.path / "rounds.jsonl").read_text().splitlines()
    assert [json.loads(line)["round"] for line in lines] == [0, 1, 2]


def test_the_model_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    run = RunFolder.create(tmp_path, "run")
    broken = run.scratch()
    broken.mkdir()
    (broken / "half").write_text("written")
    assert not run.checkpoint.exists()
    for attempt in ("first", "second"):
        scratch = run.scratch()
        assert not scratch.exists(), "nothing of the broken attempt is left in it"
        scratch.mkdir()
        (scratch / attempt).touch()
        assert [path.name for path in run.publish().iterdir()] == [attempt]


def test_records_are_cut_to_where_they_stood(tmp_path: Path) -> None:
    run = RunFolder.create(tmp_path, "run")
    run.append("rounds.jsonl", [{"round": 0}])
    sizes = run.sizes()
    run.append("rounds.jsonl", [{"round": 1}])
    run.append("faults.jsonl", [{"round": 1}])
    run.cut(sizes)
    assert run.read("rounds.jsonl") == [{"round": 0}]
    assert run.read("faults.jsonl") == []


def test_a_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    run = RunFolder.create(tmp_path, "run")
    run.append("rounds.jsonl", [{"round": 0}])
    with (run.path / "rounds.jsonl").open("a") as file:
        file.write('{"round": 1, "des')
    assert run.read("rounds.jsonl") == [{"round": 0}]
    assert run.read("missing.jsonl") == []


def test_only_one_process_trains_in_a_folder(tmp_path: Path) -> None:
    run = RunFolder.create(tmp_path, "run")
    with run.locked(), pytest.raises(UsageError, match="another process"), run.locked():
        pass


def test_a_look_whether_a_run_trains_keeps_nobody_from_training(tmp_path: Path) -> None:
    run = RunFolder.create(tmp_path, "run")
    (run.path / ".lock").touch()
    looking = (run.path / ".lock").open()
    fcntl.flock(looking, fcntl.LOCK_SH)
    threading.Timer(0.03, looking.close).start()
    with run.locked():
        assert looking.closed
