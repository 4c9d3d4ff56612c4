"""A run that is killed anywhere and resumed ends as one that never stopped, bit by bit."""

from __future__ import annotations

import json
import random
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import torch
from killing import flags, killed, lucky_registry, start
from safetensors.torch import load_file

ROUNDS = 3


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
    killed(["list"], registry, runs / "warm.txt", 60)  # the server of processes imports PyTorch
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


def same(whole: Path, run: Path) -> None:
    assert outcome(run) == outcome(whole)
    expected, found = weights(whole), weights(run)
    assert all(torch.equal(expected[name], found[name]) for name in expected)


def test_a_killed_run_ends_as_one_that_never_stopped(
    whole: tuple[Path, float], model_folder: Path, registry: Path, tmp_path: Path
) -> None:
    path, seconds = whole
    run = interrupted(model_folder, registry, tmp_path, [0.7 * seconds])
    same(path, run)


@pytest.mark.soak
@pytest.mark.parametrize("attempt", range(20))
def test_wherever_it_is_killed(
    attempt: int, whole: tuple[Path, float], model_folder: Path, registry: Path, tmp_path: Path
) -> None:
    path, seconds = whole
    rng = random.Random(attempt)
    run = interrupted(model_folder, registry, tmp_path, [rng.uniform(0, 1.1) * seconds])
    same(path, run)
