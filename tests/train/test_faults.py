"""A round that the machine cannot finish is played again, then skipped on record; a full disk stops the run whole."""

from __future__ import annotations

import errno
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from killing import flags, lucky_registry
from safetensors.torch import load_file

from spade_envs.errors import IsolationError
from spade_envs.registry import stack
from spade_train.cli import main
from spade_train.selfplay import SelfPlay

SERVER_GONE = ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused")
NO_WORKER = IsolationError("no worker can be started")
FULL = OSError(errno.ENOSPC, "No space left on device")

Fault = Callable[[int, int], Exception | None]
"""(round, attempt) -> what fails in the middle of it, after everything has been played."""


@pytest.fixture
def run(model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Three rounds in which no design is made; or other words that go on with them."""
    monkeypatch.setenv("SPADE_REGISTRY", str(lucky_registry(tmp_path / "lucky")))
    look = SelfPlay._look
    begin = [
        *flags(model_folder, tmp_path, "run", 3),
        *["--designer", "none", "--schedule", "joint", "--save_total_limit", "9"],
    ]

    def start(fault: Fault, *more: str, resume: bool = False) -> Path:
        tries: Counter[int] = Counter()

        def failing(self: SelfPlay, number: int, *arguments: Any) -> Any:
            tries[number] += 1
            if problem := fault(number, tries[number] - 1):
                raise problem
            return look(self, number, *arguments)

        monkeypatch.setattr(SelfPlay, "_look", failing)
        monkeypatch.setenv(stack.ADDED, "")
        main(["resume", str(tmp_path / "run")] if resume else [*begin, *more])
        return tmp_path / "run"

    return start


def lines(run: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / f"{name}.jsonl").read_text().splitlines()]


def weights(run: Path, step: int) -> dict[str, torch.Tensor]:
    return dict(load_file(run / "checkpoints" / f"checkpoint-{step}" / "model.safetensors"))


@pytest.mark.parametrize("problem", [SERVER_GONE, pytest.param(NO_WORKER, marks=pytest.mark.soak)])
def test_a_round_that_fails_again_and_again_is_skipped_on_record(
    problem: Exception, run: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    path = run(lambda number, _: problem if number == 1 else None, "--round_retries", "1")
    rounds = lines(path, "rounds")
    why = f"{type(problem).__name__}: {problem}"
    assert [one["skipped"] for one in rounds] == [None, why, None]
    faults = [(one["round"], one["attempt"], one["kind"]) for one in lines(path, "faults")]
    assert faults == [(1, 0, type(problem).__name__), (1, 1, type(problem).__name__)]
    told = capsys.readouterr().out
    assert f"round 2/3: skipped: {why}" in told
    assert "skipped       round 2" in told
    first, second, third = (weights(path, step) for step in (1, 2, 3))
    assert all(torch.equal(first[name], second[name]) for name in first), "its step moves nothing"
    assert any(not torch.equal(second[name], third[name]) for name in first)
    assert {one["round"] for one in lines(path, "plays")} == {0, 2}
    before, after = (json.loads((path / "states" / f"00000{n}.json").read_text()) for n in (1, 2))
    assert before["watch"] == after["watch"], "the watch has seen nothing"


@pytest.mark.soak
def test_a_round_that_fails_once_is_played_as_if_it_had_not(run: Callable[..., Path], tmp_path: Path) -> None:
    path = run(lambda *_: None)
    path.rename(tmp_path / "whole")
    path = run(lambda number, attempt: NO_WORKER if number == 1 and attempt < 2 else None)
    assert [one["skipped"] for one in lines(path, "rounds")] == [None] * 3
    assert [one["attempt"] for one in lines(path, "faults")] == [0, 1]
    for name in ("plays", "episodes"):
        assert lines(path, name) == lines(tmp_path / "whole", name)
    expected, found = weights(tmp_path / "whole", 3), weights(path, 3)
    assert all(torch.equal(expected[name], found[name]) for name in expected)


@pytest.mark.parametrize(
    ("problem", "said", "rounds", "faults"),
    [
        pytest.param(NO_WORKER, "no worker can be started", 2, 2, marks=pytest.mark.soak),
        (FULL, "is full; make room, then go on", 1, 1),
    ],
)
def test_what_will_not_pass_stops_a_run_that_goes_on_later(
    problem: Exception,
    said: str,
    rounds: int,
    faults: int,
    run: Callable[..., Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as left:
        run(lambda number, _: problem if number else None, "--round_retries", "0")
    assert left.value.code == 1
    told = capsys.readouterr()
    assert said in told.err
    assert f"to go on: spade-train resume {tmp_path / 'run'}" in told.out
    path = tmp_path / "run"
    assert len(lines(path, "rounds")) == rounds
    assert len(lines(path, "faults")) == faults
    run(lambda *_: None, resume=True)
    assert [one["round"] for one in lines(path, "rounds")] == [0, 1, 2]
    assert [one["skipped"] is not None for one in lines(path, "rounds")] == [False, rounds == 2, False]
