"""Runs are listed and shown from whatever their folders hold."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from spade_train.cli import main
from spade_train.memory import Memory
from spade_train.runs.checkpoints import RunState, mark
from spade_train.runs.folder import RunFolder
from spade_train.runs.views import changed, find_runs, rounds, view_run
from spade_train.watching import Watch


def entry(number: int, **more: Any) -> dict[str, Any]:
    return {
        "round": number,
        "designs": 2,
        "compiled": 2,
        "admitted": [f"spade/New{number}-v0"],
        "regret": 0.5,
        "regret_error": None,
        "success": 0.25,
        "hinted_success": 0.75,
        "loss": 0.1,
        "gradient": {"designer": 0.1, "agent": 0.2},
        "seconds": {"play": 3.0},
        **more,
    }


def episode(hinted: bool, **more: Any) -> dict[str, Any]:
    text = "Hint: it is 4. What is it?" if hinted else "What is it?"
    played = {"round": 1, "env_id": "spade/New1-v0", "seed": 7, "hinted": hinted}
    return {**played, "prompt": text, "completion": f"it is {4 if hinted else 3}", "success": hinted, **more}


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    run = RunFolder.create(tmp_path / "runs", "mine")
    run.write_config(
        {
            "preset": "configs/demo.yaml",
            "preset_settings": {"rounds": 3, "memory": True},
            "flags": ["--rounds", "2", "--no_memory", "--learning-rate=1e-5"],
            "model": "/models/Tiny",
            "selfplay": {"rounds": 2, "memory": False},
            "grpo": {"learning_rate": 1e-5},
            "model_config": {},
        }
    )
    various = {"designs": 2, "ideas": 1, "effective_ideas": 1.0}
    alarm = "collapse: 14 of the last 14 designs have one idea (reported)"
    run.append("rounds.jsonl", [entry(0, diversity=various, alarms=[alarm]), entry(1)])
    run.append("episodes.jsonl", [episode(False, return_=0.0), episode(True, return_=1.0)])
    run.append("faults.jsonl", [{"round": 1, "attempt": 0, "kind": "OSError", "error": "no space"}])
    for number in (0, 1):
        folder = run.registry / f"New{number}"
        folder.mkdir(parents=True)
        (folder / "v0.py").touch()
    return run


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    main(list(words))
    return capsys.readouterr().out


def test_a_run_at_a_glance(run: RunFolder, capsys: pytest.CaptureFixture[str]) -> None:
    line = said(capsys, "list", str(run.path.parent)).splitlines()[1].split()
    assert line[:6] == ["mine", "2/2", "0.25", "+0.50", "2", "interrupted"]
    (one,) = json.loads(said(capsys, "list", str(run.path.parent), "--json"))
    assert (one["name"], one["done"], one["planned"], one["model"]) == ("mine", 2, 2, "Tiny")


def test_a_run_with_its_model_has_finished_and_one_that_is_locked_goes_on(run: RunFolder) -> None:
    run.checkpoint.mkdir()
    assert view_run(run).state == "finished"
    with run.locked():
        assert view_run(run).state == "running"


def test_a_run_whose_weights_were_rolled_back_has_rounds_to_go(run: RunFolder) -> None:
    run.checkpoint.mkdir()
    for done, state in ((2, "finished"), (1, "interrupted")):
        folder = run.checkpoints / "checkpoint-1"
        folder.mkdir(parents=True, exist_ok=True)
        mark(folder, RunState(done, Memory().state(), {}, run.sizes(), Watch().state()))
        assert view_run(run).state == state


def test_settings_that_flags_changed(run: RunFolder, capsys: pytest.CaptureFixture[str]) -> None:
    shown = said(capsys, "show", str(run.path))
    for line in ("rounds: 2 (there 3)", "memory: False (there True)", "learning_rate: 1e-05"):
        assert line in shown
    assert json.loads(said(capsys, "show", str(run.path), "--json"))["changed"]["rounds"] == {
        "value": 2,
        "preset": 3,
    }


def test_a_run_is_shown_whole(run: RunFolder, capsys: pytest.CaptureFixture[str]) -> None:
    shown = said(capsys, "show", str(run.path))
    assert "spade/New0-v0" in shown
    assert "round 2: OSError: no space" in shown
    assert "round 1: collapse: 14 of the last 14 designs have one idea (reported)" in shown
    assert "round 1: 2 designs: 1 ideas (effectively 1.0)" in shown
    assert "without the hint: no success" in shown
    assert "Hint: it is 4." in shown
    data = json.loads(said(capsys, "show", str(run.path), "--json"))
    assert data["episodes"][0]["plain"]["completion"] == "it is 3"
    assert "without the hint" in said(capsys, "show", str(run.path), "--env", "spade/New1-v0")


def test_an_environment_that_was_not_played_names_the_nearest(
    run: RunFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    for asked, mend in (
        ("spade/Nwe1-v0", "Did you mean 'spade/New1-v0'?"),
        ("x", "It has: 'spade/New1-v0'."),
    ):
        with pytest.raises(SystemExit) as left:
            main(["show", str(run.path), "--env", asked])
        assert left.value.code == 2
        assert f"has no episode of {asked!r}. {mend}" in capsys.readouterr().err


def test_environments_that_were_withdrawn_are_not_shown(run: RunFolder) -> None:
    (run.registry / "New1" / "v0.py").unlink()
    assert view_run(run).environments == 1


HARM = {
    "half a line": ("rounds.jsonl", b'{"round": 2, "des'),
    "no object": ("rounds.jsonl", b"3\n"),
    "an entry that lacks its end": ("rounds.jsonl", b'{"round": 2, "success": 1}\n'),
    "an episode of nothing": ("episodes.jsonl", b"{}\n"),
}


@pytest.mark.parametrize("name", HARM)
def test_what_is_half_written_is_left_out(
    name: str, run: RunFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    file, data = HARM[name]
    with (run.path / file).open("ab") as lines:
        lines.write(data)
    assert view_run(run).done == 2
    assert "mine" in said(capsys, "show", str(run.path))


@pytest.mark.parametrize(
    "more",
    [
        {"diversity": {"x": 1}, "alarms": 3},
        {"diversity": [1]},
        {"diversity": {"designs": 2, "effective_ideas": "x"}},
    ],
)
def test_figures_of_another_version_are_passed_over(
    more: dict[str, Any], run: RunFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    run.append("rounds.jsonl", [entry(2, **more)])
    assert "round 3: " not in said(capsys, "show", str(run.path))


@pytest.mark.parametrize("file", ["rounds.jsonl", "episodes.jsonl", "config.json"])
def test_a_broken_file_ends_in_no_traceback(
    file: str, run: RunFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    (run.path / file).write_bytes(b"\xff\x00{")
    assert len(find_runs(run.path.parent)) == 1
    assert "mine" in said(capsys, "show", str(run.path))


def test_other_folders_are_passed_over(run: RunFolder, capsys: pytest.CaptureFixture[str]) -> None:
    runs = run.path.parent
    (runs / "empty").mkdir()
    (runs / "model").mkdir()
    (runs / "model" / "config.json").write_text('{"model_type": "llama"}')
    (runs / "a file").touch()
    assert [one.name for one in find_runs(runs)] == ["mine"]
    assert "holds no run" in said(capsys, "list", str(runs / "empty"))
    assert json.loads(said(capsys, "list", str(runs / "empty"), "--json")) == []


@pytest.mark.parametrize("words", [["list", "nowhere"], ["show", "nowhere"], ["show"]])
def test_a_folder_that_is_not_there(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as left:
        main(words)
    assert left.value.code == 2
    assert "Traceback" not in capsys.readouterr().err


def test_runs_are_shown_without_torch(run: RunFolder) -> None:
    program = (
        "import sys; from spade_train.cli import main; "
        f"main(['list', {str(run.path.parent)!r}]); main(['show', {str(run.path)!r}]); "
        "print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("False\n")


def test_rounds_of_another_kind_are_left_out(tmp_path: Path) -> None:
    run = RunFolder.create(tmp_path, "odd")
    (run.path / "config.json").write_text('{"flags": 5}')
    run.append("rounds.jsonl", [entry(0, admitted=None), entry(1, success="much"), entry(2)])
    assert [one["round"] for one in rounds(run)] == [2]
    assert changed(run) == {}
