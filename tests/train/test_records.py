"""What a run leaves behind is whole, whenever it stops."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spade_envs.errors import UsageError
from spade_train.records import RunFolder


def test_runs_never_share_a_folder(tmp_path: Path) -> None:
    first, second = (RunFolder.create(tmp_path / "runs", None) for _ in range(2))
    assert first.path != second.path
    RunFolder.create(tmp_path / "runs", "mine")
    with pytest.raises(UsageError, match="mine exists"):
        RunFolder.create(tmp_path / "runs", "mine")


def test_lines_are_whole_json(tmp_path: Path) -> None:
    run = RunFolder.create(tmp_path, "run")
    for number in range(3):
        run.append("rounds.jsonl", {"round": number, "text": "line\nbreak"})
    lines = (run.path / "rounds.jsonl").read_text().splitlines()
    assert [json.loads(line)["round"] for line in lines] == [0, 1, 2]


def test_a_checkpoint_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    run = RunFolder.create(tmp_path, "run")

    def break_off(folder: str) -> None:
        Path(folder).mkdir()
        (Path(folder) / "half").write_text("written")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run.save_checkpoint(break_off)
    assert not run.checkpoint.exists()
    run.save_checkpoint(lambda folder: Path(folder).mkdir())
    assert list(run.checkpoint.iterdir()) == [], "nothing of the broken attempt is left in it"
