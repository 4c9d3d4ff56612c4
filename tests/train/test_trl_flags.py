"""Flags of TRL's own go through: adapters are trained and saved, a tracker is told of every round."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file

from spade_train.cli import main

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")  # between transformers and PEFT

TRACKER = """
import json, pathlib

class SummaryWriter:
    def __init__(self, log_dir):
        self.file = pathlib.Path(log_dir) / "scalars.jsonl"
        self.file.parent.mkdir(parents=True, exist_ok=True)

    def add_scalar(self, name, value, step):
        with self.file.open("a") as lines:
            lines.write(json.dumps([step, name, value]) + "\\n")

    def add_text(self, *_): pass
    def flush(self): pass
    def close(self): pass
"""
"""What transformers asks of the package tensorboardX, which need not be installed here."""


@pytest.fixture(scope="module")
def run(model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    place = tmp_path_factory.mktemp("place")
    (place / "tensorboardX.py").write_text(TRACKER)
    words = (
        f"--model_name_or_path {model_folder} --runs {place} --run_name run --rounds 2 --num_generations 2 "
        "--max_completion_length 120 --turn_tokens 6 --bf16 false --upper_layers 0 --learning_rate 1e-2 "
        "--use_peft --lora_r 8 --lora_target_modules all-linear --report_to tensorboard "
        "--curriculum spade/OasisWalk-v0"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(place)
        patch.setattr("transformers.integrations.integration_utils.is_tensorboard_available", lambda: True)
        main(words.split())
    sys.modules.pop("tensorboardX", None)
    return place / "run"


def test_adapters_are_trained_and_saved(run: Path) -> None:
    adapter = load_file(run / "checkpoint" / "adapter_model.safetensors")
    assert {name.rpartition("lora_")[2][0] for name in adapter} == {"A", "B"}
    assert json.loads((run / "checkpoint" / "adapter_config.json").read_text())["r"] == 8
    assert not (run / "checkpoint" / "model.safetensors").exists()
    rounds = [json.loads(line) for line in (run / "rounds.jsonl").read_text().splitlines()]
    assert len(rounds) == 2


def test_a_tracker_is_told_of_every_round(run: Path) -> None:
    (file,) = run.rglob("scalars.jsonl")
    told = [json.loads(line) for line in file.read_text().splitlines()]
    for name in ("agent/success", "agent/reward", "designer/admitted"):
        assert {step for step, scalar, _ in told if scalar.endswith(name)} == {1, 2}, name
