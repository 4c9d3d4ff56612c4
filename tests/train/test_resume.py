"""A run that is killed anywhere and resumed ends as one that never stopped, bit by bit."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import torch
from killing import flags, killed, lucky_registry, start
from safetensors.torch import load_file

ROUNDS = 3
GOLDEN = Path(__file__).parent / "golden" / "three_rounds.json"


def outcome(run: Path) -> dict[str, Any]:
    """What a run has come to: everything that must not depend on where it was interrupted."""
    last = max(
        (run / "checkpoints").glob("checkpoint-*/selfplay.json"), key=lambda path: path.stat().st_mtime
    )
    state = json.loads(last.read_text())
    files = {str(path.relative_to(run)): path.read_bytes() for path in run.glob("registry/*/v*.py")}
    designs = [json.loads(line) for line in (run / "designs.jsonl").read_text().splitlines()]
    rounds = [json.loads(line) for line in (run / "rounds.jsonl").read_text().splitlines()]
    return {
        "memory": state["memory"],
        "learnt": state["learnt"],
        "environments": state["environments"],
        "sources": {name: sha256(data).hexdigest() for name, data in files.items()},
        "plays": (run / "plays.jsonl").read_text(),
        "episodes": (run / "episodes.jsonl").read_text(),
        "designs": [(one["round"], one["slot"], one["reply"], one["env_id"]) for one in designs],
        "losses": [(one["round"], one["loss"], one["grad_norm"], one["designer_reward"]) for one in rounds],
    }


def weights(run: Path) -> dict[str, torch.Tensor]:
    return dict(load_file(run / "checkpoint" / "model.safetensors"))


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return lucky_registry(tmp_path_factory.mktemp("lucky"))


@pytest.fixture(scope="module")
def whole(model_folder: Path, registry: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float]:
    """A run that never stopped, and the seconds that it took."""
    runs = tmp_path_factory.mktemp("whole")
    began = time.monotonic()
    process = start(flags(model_folder, runs, "whole", ROUNDS), registry, runs / "output.txt")
    process.join(300)
    assert process.exitcode == 0, (runs / "output.txt").read_text()
    return runs / "whole", time.monotonic() - began


def interrupted(model: Path, registry: Path, runs: Path, seconds: list[float]) -> Path:
    """Start a run, kill it after each of these times, let it end."""
    words, output = flags(model, runs, "killed", ROUNDS), runs / "output.txt"
    for limit in seconds:
        if not killed(words, registry, output, limit):
            break
        if (runs / "killed" / "config.json").exists():
            words = ["resume", str(runs / "killed")]
    else:
        process = start(words, registry, output)
        process.join(300)
        assert process.exitcode == 0, output.read_text()
    return runs / "killed"


def summary(run: Path) -> dict[str, Any]:
    """What three rounds must always come to: rewards, advantages, tokens with their masks, weights."""
    rows = [
        json.loads(line)
        for name in ("designs", "plays")
        for line in (run / f"{name}.jsonl").read_text().splitlines()
    ]
    kept = ("round", "prompt_hash", "reply_hash", "tokens", "sampled", "reward", "advantage")
    trained = {name: tensor for name, tensor in weights(run).items() if ".layers.1." in name}
    return {
        "rows": [{key: row[key] for key in kept} for row in rows],
        "weights": {
            name: [tensor.sum().item(), tensor.abs().sum().item()] for name, tensor in trained.items()
        },
    }


def is_golden(run: Path) -> None:
    """Compare with the file; ``SPADE_GOLDEN=write`` writes it anew, for a change that is meant."""
    found = summary(run)
    if os.environ.get("SPADE_GOLDEN") == "write":
        GOLDEN.write_text(json.dumps(found, indent=1) + "\n")
    golden = json.loads(GOLDEN.read_text())
    for row, expected in zip(found["rows"], golden["rows"], strict=True):
        numbers = [key for key in ("reward", "advantage") if expected[key] is not None]
        assert {k: v for k, v in row.items() if k not in numbers} == {
            k: v for k, v in expected.items() if k not in numbers
        }
        assert [row[key] for key in numbers] == pytest.approx([expected[key] for key in numbers], abs=1e-4)
    assert found["weights"].keys() == golden["weights"].keys()
    for name, sums in found["weights"].items():
        assert sums == pytest.approx(golden["weights"][name], rel=1e-3, abs=1e-3), name


def same(whole: Path, run: Path) -> None:
    assert outcome(run) == outcome(whole)
    expected, found = weights(whole), weights(run)
    assert all(torch.equal(expected[name], found[name]) for name in expected)


def test_three_rounds_are_golden(whole: tuple[Path, float]) -> None:
    is_golden(whole[0])


@pytest.mark.soak
def test_a_killed_run_ends_as_one_that_never_stopped(
    whole: tuple[Path, float], model_folder: Path, registry: Path, tmp_path: Path
) -> None:
    path, seconds = whole
    run = interrupted(model_folder, registry, tmp_path, [0.7 * seconds])
    same(path, run)


@pytest.mark.soak
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_control_c_saves_and_says_how_to_go_on(
    sent: signal.Signals,
    code: int,
    whole: tuple[Path, float],
    model_folder: Path,
    registry: Path,
    tmp_path: Path,
) -> None:
    path, seconds = whole
    output = tmp_path / "output.txt"
    words = [*flags(model_folder, tmp_path, "stopped", ROUNDS), "--save_rounds", "0"]
    process = start(words, registry, output)
    process.join(0.7 * seconds)
    os.kill(process.pid, sent)
    process.join(60)
    assert process.exitcode == code
    assert f"to go on: spade-train resume {tmp_path / 'stopped'}" in output.read_text()
    assert (tmp_path / "stopped" / "checkpoints").is_dir()
    process = start(["resume", str(tmp_path / "stopped"), "--save_rounds", "1"], registry, output)
    process.join(300)
    assert process.exitcode == 0, output.read_text()
    same(path, tmp_path / "stopped")


@pytest.mark.soak
def test_a_full_disk_stops_a_run_that_goes_on_later(
    whole: tuple[Path, float], model_folder: Path, registry: Path, tmp_path: Path
) -> None:
    output = tmp_path / "output.txt"
    words = flags(model_folder, tmp_path, "full", ROUNDS)
    process = start(words, registry, output, full_after=14)
    process.join(300)
    assert process.exitcode == 1
    assert "is full; make room, then go on" in output.read_text()
    assert "Traceback" not in output.read_text()
    process = start(["resume", str(tmp_path / "full")], registry, output)
    process.join(300)
    assert process.exitcode == 0, output.read_text()
    same(whole[0], tmp_path / "full")


@pytest.mark.soak
@pytest.mark.parametrize("attempt", range(20))
def test_wherever_it_is_killed(
    attempt: int, whole: tuple[Path, float], model_folder: Path, registry: Path, tmp_path: Path
) -> None:
    path, seconds = whole
    rng = random.Random(attempt)
    run = interrupted(model_folder, registry, tmp_path, [rng.uniform(0, 1.1) * seconds])
    same(path, run)
