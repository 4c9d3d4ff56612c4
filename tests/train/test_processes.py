"""Two processes train together: blocks stay whole, everybody remembers the same, a killed run resumes."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
import torch
from killing import Started, descendants, flags, lucky_registry, wait_for
from safetensors.torch import load_file

pytestmark = pytest.mark.soak

ROUNDS, GROUP, PROCESSES = 3, 2, 2


def command(*words: str) -> list[str]:
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", str(PROCESSES)]
    return [sys.executable, *launcher, "-m", "spade_train", *words]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    registry = lucky_registry(tmp_path_factory.mktemp("lucky"))
    return {**os.environ, "SPADE_REGISTRY": str(registry), "OMP_NUM_THREADS": "1", "NO_COLOR": "1"}


@pytest.fixture(scope="module")
def whole(model_folder: Path, environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    runs = tmp_path_factory.mktemp("runs")
    words = flags(model_folder, runs, "two", ROUNDS)
    done = subprocess.run(command(*words), env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return runs / "two"


def lines(run: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / f"{name}.jsonl").read_text().splitlines()]


def test_each_process_plays_a_round_of_its_own(whole: Path) -> None:
    run = whole
    designs, plays = lines(run, "designs"), lines(run, "plays")
    assert [one["round"] for one in designs] == [0] * GROUP * PROCESSES + [2] * GROUP * PROCESSES
    assert len({one["prompt_hash"] for one in designs if one["round"] == 0}) == PROCESSES, "documents differ"
    trained = [one for one in plays if one["advantage"] is not None]
    by_block = [list(rows) for _, rows in groupby(trained, lambda one: one["prompt_hash"])]
    assert all(len(rows) % GROUP == 0 for rows in by_block), "no block is split"
    for at in range(0, len(trained), GROUP):
        block = trained[at : at + GROUP]
        assert len({one["prompt_hash"] for one in block}) == 1
        assert sum(one["advantage"] for one in block) == pytest.approx(0, abs=1e-6)
    assert any(one["advantage"] for one in trained)
    assert [one["round"] for one in lines(run, "rounds")] == list(range(ROUNDS))


def test_a_killed_run_goes_on(
    whole: Path, model_folder: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    run = tmp_path / "killed"
    words = command(*flags(model_folder, tmp_path, "killed", ROUNDS))
    process = Started(
        subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    )
    wait_for(run / "states" / "000002.json", process)
    process.join(1)  # somewhere within the last round, in which the designer has its turn
    all_of_them = descendants(process.pid)  # the launcher's workers would live on without it
    process.kill()
    for pid in all_of_them:
        with contextlib.suppress(ProcessLookupError):  # it has ended with its parent
            os.kill(pid, signal.SIGKILL)
    assert len(lines(run, "rounds")) < ROUNDS
    done = subprocess.run(
        command("resume", str(run)), env=environment, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for name in ("plays", "episodes"):
        assert lines(run, name) == lines(whole, name)
    expected, found = (load_file(one / "checkpoint" / "model.safetensors") for one in (whole, run))
    assert all(torch.equal(expected[name], found[name]) for name in expected)
