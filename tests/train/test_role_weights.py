"""Roles with weights of their own: whole runs train both, and a run that goes on ends as one that never stopped."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from killing import flags, kill_when, lucky_registry, start
from safetensors.torch import load_file
from train_stand_ins import tiny_model
from transformers import LlamaForCausalLM

from spade_envs.registry import stack
from spade_train.cli import main
from spade_train.rewards.advantages import Advantages
from spade_train.rounds import Row
from spade_train.trl_plugin import Settings

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")  # between transformers and PEFT

LORA = "--upper_layers 0 --use_peft --lora_r 4 --lora_target_modules all-linear"
KINDS = {
    "two models": "--designer_model {other} --designer_scale 0.5",
    "an adapter": LORA,
    "an adapter for each role": f"{LORA} --role_adapters",
}


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return lucky_registry(tmp_path_factory.mktemp("lucky"))


@pytest.fixture(scope="module")
def other(tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another model: wider, with a tokenizer of its own folder."""
    folder = tmp_path_factory.mktemp("other")
    config = tiny_model(tokenizer).config
    config.hidden_size, config.head_dim = 48, 12
    torch.manual_seed(1)
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def words(kind: str, model: Path, other: Path, runs: Path, name: str, rounds: int) -> list[str]:
    return [
        *flags(model, runs, name, rounds),
        *["--schedule", "joint", "--designer_reward", "diversity", "--exploration_reward", "0.5"],
        *KINDS[kind].format(other=other).split(),
    ]


def weights(folder: Path) -> dict[str, torch.Tensor]:
    """Return everything that is saved there, the designer's names with their folder."""
    return {
        f"{file.parent.relative_to(folder)}/{name}": tensor
        for file in sorted(folder.rglob("*.safetensors"))
        for name, tensor in load_file(file).items()
    }


def same(whole: Path, run: Path) -> None:
    expected, found = weights(whole / "checkpoint"), weights(run / "checkpoint")
    assert expected.keys() == found.keys()
    assert all(torch.equal(expected[name], found[name]) for name in expected)
    for name in ("plays", "episodes"):
        assert (whole / f"{name}.jsonl").read_text() == (run / f"{name}.jsonl").read_text()


def earn(self: Settings, rows: Sequence[Row]) -> Advantages:
    """Rewards that differ in every block: a random model earns none."""
    return _worth(self, [replace(row, reward=float(n * n % 7)) for n, row in enumerate(rows)])


_worth = Settings.advantages


@pytest.mark.soak
@pytest.mark.parametrize("kind", KINDS)
def test_both_are_trained_and_a_run_that_goes_on_ends_as_one_that_never_stopped(
    kind: str,
    model_folder: Path,
    other: Path,
    registry: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SPADE_REGISTRY", str(registry))
    monkeypatch.setattr(Settings, "advantages", earn)
    monkeypatch.setenv(stack.ADDED, "")
    main(words(kind, model_folder, other, tmp_path, "whole", 2))
    shutil.copytree(tmp_path / "whole", tmp_path / "parts")
    monkeypatch.setenv(stack.ADDED, "")  # no run knows what another one has admitted
    main(["rollback", str(tmp_path / "parts"), "1"])
    first = weights(tmp_path / "parts" / "checkpoints" / "checkpoint-1")
    shutil.rmtree(tmp_path / "parts" / "checkpoint")
    main(["resume", str(tmp_path / "parts")])
    same(tmp_path / "whole", tmp_path / "parts")
    last = weights(tmp_path / "parts" / "checkpoint")
    moved = {name.rpartition("/")[0] for name in first if not torch.equal(first[name], last[name])}
    assert moved == {".", "designer"}
    rounds = [json.loads(line) for line in (tmp_path / "parts" / "rounds.jsonl").read_text().splitlines()]
    assert all(one["gradient"][role] > 0 for one in rounds for role in ("designer", "agent"))


@pytest.mark.soak
@pytest.mark.parametrize("kind", KINDS)
def test_wherever_it_is_killed(
    kind: str, model_folder: Path, other: Path, registry: Path, tmp_path: Path
) -> None:
    output = tmp_path / "output.txt"

    def ended(said: list[str]) -> None:
        process = start(said, registry, output)
        process.join(600)
        assert process.exitcode == 0, output.read_text()

    ended(words(kind, model_folder, other, tmp_path, "whole", 3))
    moments = {
        "in a round": ("states/000001.json", 1.0),
        "in a checkpoint": ("checkpoints/checkpoint-2", 0.0),
    }
    for name, (path, seconds) in moments.items():
        run = tmp_path / name.replace(" ", "_")
        process = start(words(kind, model_folder, other, tmp_path, run.name, 3), registry, output)
        kill_when(process, run / path, seconds)
        ended(["resume", str(run)])
        same(tmp_path / "whole", run)
