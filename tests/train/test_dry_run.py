"""A dry run tells the plan, the tokens, the memory and what will be read; it writes nothing."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM

from spade_train import trl_plugin
from spade_train.cli import main
from spade_train.flags import read_words
from spade_train.models.budget import Lengths, Measured, budgets
from spade_train.models.dry_run import estimate
from spade_train.models.footprint import Load, Shape, footprint
from spade_train.schedule import Schedule
from spade_train.trl_plugin.sizes import parameters, shape

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")  # between transformers and PEFT

LENGTHS = Lengths(design_prompt=300, design=40, prompt=100, episode=20)


def test_the_budget_counts_what_a_joint_round_plays() -> None:
    (one,) = budgets(Schedule("joint", group=4), 3, Measured(2, 8), LENGTHS, prompt=512, completion=160)
    assert one.rounds == (1, 2, 3)
    assert (one.designs, one.blocks, one.rows) == (4, (1, 4), 20)
    assert (one.episodes, one.extra) == (16, 4 + 4 * 8)
    assert one.sampled_most == (4 + 16 + 16 + 4 + 4 * 8) * 160
    assert one.sampled_expected == 4 * 40 + 36 * 20
    assert one.trained_most == 4 * (300 + 160) + 16 * (512 + 160)
    assert one.trained_expected == 4 * 340 + 16 * 120


def test_rounds_of_each_kind_have_a_budget_of_their_own() -> None:
    schedule = Schedule("alternate", group=2, every=3)
    first, second = budgets(schedule, 7, Measured(), LENGTHS, prompt=512, completion=160)
    assert (first.rounds, second.rounds) == ((1, 4, 7), (2, 3, 5, 6))
    assert (first.designs, second.designs) == (2, 0)
    assert first.rows == second.rows == 6


def test_nobody_is_trained_beyond_a_completion() -> None:
    long = replace(LENGTHS, design=900, episode=900)
    (one,) = budgets(Schedule("joint", group=2), 1, Measured(), long, prompt=512, completion=160)
    assert one.sampled_expected == one.sampled_most


SMALL = Shape(2, 2, 32, 32, 16, 64, 1000, parameters=50_000, linear=18_000, trainable=50_000)
LOAD = Load(4, 4, 4, "adamw_torch_fused", False, 1, 200, 60, 8, 4, 100, 0, cpu=False)


def test_adam_keeps_two_numbers_for_each_weight() -> None:
    found = footprint(SMALL, LOAD)
    assert found.weights == found.gradients == 4 * 50_000
    assert found.optimiser == 2 * found.weights
    assert footprint(SMALL, replace(LOAD, optimiser="sgd")).optimiser == 0


def test_the_cache_grows_with_the_episodes_and_their_length() -> None:
    reading = LOAD.prompts * LOAD.prompt_tokens * (4 * 32 + 3 * 64) * 4
    assert footprint(SMALL, LOAD).cache - reading == 8 * 200 * 2 * 2 * 16 * 4
    assert footprint(SMALL, replace(LOAD, episodes=16)).cache - reading == 16 * 200 * 2 * 2 * 16 * 4


def test_the_peak_is_training_or_sampling_never_both() -> None:
    found = footprint(SMALL, LOAD)
    fixed = found.weights + found.optimiser
    training = found.gradients + found.activations + found.scores
    assert found.peak == fixed + max(training, found.cache + found.logits)


def test_a_tile_of_logits_is_held_and_its_copies_where_there_is_no_triton() -> None:
    assert footprint(SMALL, LOAD).scores == 60 * 1000 * 4
    assert footprint(SMALL, replace(LOAD, cpu=True)).scores == 60 * 1000 * 4 * 9
    large = replace(SMALL, vocabulary=200_000)
    assert footprint(large, replace(LOAD, micro_rows=100)).scores == 4096 * 32768 * 4


def test_of_two_models_both_stay_and_one_computes_at_a_time() -> None:
    one = footprint(SMALL, LOAD)
    other = footprint(replace(SMALL, hidden=64, parameters=90_000, trainable=70_000), LOAD)
    both = one.beside(other)
    assert both.weights == one.weights + other.weights
    assert both.optimiser == one.optimiser + other.optimiser
    assert both.gradients == one.gradients + other.gradients
    assert (both.activations, both.cache) == (other.activations, other.cache)
    assert both.process == one.process


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"checkpointing": True}, "activations"),
        ({"linear_bytes": 0.56, "compute_bytes": 2}, "weights"),
        ({"optimiser": "adamw_8bit"}, "optimiser"),
    ],
)
def test_what_saves_memory_is_seen(change: dict[str, Any], part: str) -> None:
    assert getattr(footprint(SMALL, replace(LOAD, **change)), part) < getattr(footprint(SMALL, LOAD), part)


def settings(model: Path, *words: str) -> trl_plugin.Settings:
    return trl_plugin.settings(read_words(["--model_name_or_path", str(model), *words]))


def test_sizes_are_those_of_the_model(model_folder: Path) -> None:
    config = AutoConfig.from_pretrained(model_folder)
    model = AutoModelForCausalLM.from_pretrained(model_folder)
    assert parameters(config) == sum(one.numel() for one in model.parameters())
    found = shape(settings(model_folder, "--upper_layers", "1"), config)
    layer = model.base_model.layers[-1]
    assert found.trainable == sum(one.numel() for one in layer.parameters())
    assert found.trained == 1


def test_adapters_are_counted_as_they_are_made(model_folder: Path) -> None:
    words = ["--upper_layers", "0", "--use_peft", "--lora_r", "8", "--lora_target_modules", "all-linear"]
    found = shape(settings(model_folder, *words), AutoConfig.from_pretrained(model_folder))
    model = AutoModelForCausalLM.from_pretrained(model_folder)
    linear = [m for m in model.base_model.modules() if isinstance(m, torch.nn.Linear)]
    assert found.trainable == sum(8 * (one.in_features + one.out_features) for one in linear)


def test_it_tells_everything_and_writes_nothing(
    model_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = f"--dry_run --model_name_or_path {model_folder} --upper_layers 1 --num_generations 2"
    main(words.split())
    told = capsys.readouterr().out
    assert "batch              6 rows in 6 micro-batches" in told
    assert "peak" in told
    first, designer, plain, hinted = told.split("\n--- ")
    assert "Each of rounds 1 to 3" in first
    assert "You design small games." in designer
    assert "Hint:" not in plain
    assert "Hint:" in hinted
    assert list(tmp_path.iterdir()) == []


def test_another_designer_is_told_and_counted(
    model_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = Path(shutil.copytree(model_folder, tmp_path / "other"))
    template = (other / "chat_template.jinja").read_text()
    (other / "chat_template.jinja").write_text("Other template. " + template)
    words = ["--upper_layers", "1", "--num_generations", "2", "--bf16", "false"]
    alone = estimate(settings(model_folder, *words))
    words += ["--designer_model", str(other)]
    frozen = estimate(settings(model_folder, *words, "--schedule", "designer_frozen"))
    learning = estimate(settings(model_folder, *words))
    assert alone.weights < frozen.weights == learning.weights
    assert alone.optimiser == frozen.optimiser < learning.optimiser
    main(["--dry_run", "--model_name_or_path", str(model_folder), *words])
    head, designer, plain, _ = capsys.readouterr().out.split("\n--- ")
    assert f"model {model_folder.name}, designer other (which learns, too)" in head
    assert "Other template." in designer
    assert "Other template." not in plain


def test_it_reads_what_a_run_reads(
    model_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The designer's first prompt is the run's; an agent's prompt is that of a run's episode."""
    words = (
        f"--model_name_or_path {model_folder} --upper_layers 1 --num_generations 2 --rounds 1 --bf16 false "
        f"--runs {tmp_path} --run_name real --curriculum spade/WordSorter-v0 --max_completion_length 40"
    ).split()
    main([*words, "--dry_run"])
    _, designer, plain, hinted = capsys.readouterr().out.split("\n--- ")
    main(words)
    episodes = [json.loads(line) for line in (tmp_path / "real" / "episodes.jsonl").read_text().splitlines()]
    for hint, shown in ((False, plain), (True, hinted)):
        rules = shown.partition("\n")[2].partition("<|im_end|>")[0]
        assert rules in next(one["prompt"] for one in episodes if one["hinted"] is hint)
    designs = [json.loads(line) for line in (tmp_path / "real" / "designs.jsonl").read_text().splitlines()]
    from spade_train.models.sketch import read_sketch
    from spade_train.runs.entries import _hash

    prompt = designer.partition("\n")[2].rstrip("\n") + "\n"
    assert _hash(read_sketch(str(model_folder)).ids(prompt)) == designs[0]["prompt_hash"]
