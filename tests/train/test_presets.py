"""Every shipped preset is a run that could begin; files extend one another."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from spade_envs.errors import UsageError
from spade_train import trl_plugin
from spade_train.flags import check_names, read_words
from spade_train.models.dry_run import dry_run
from spade_train.presets import FOLDER, preset_names, read_preset

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")  # between transformers and PEFT


def words(name: str, model: Path) -> list[str]:
    more = ["--model_name_or_path", str(model), "--upper_layers", "0", "--prompt_tokens", "512"]
    if name == "ablation_fixed_designer":
        more += ["--designer_backend", f"transformers:{model}"]
    return ["--config", name, *more, "--max_completion_length", "1024", "--turn_tokens", "12"]


@pytest.mark.parametrize("name", preset_names())
def test_a_preset_is_valid(name: str, model_folder: Path) -> None:
    said = read_words(words(name, model_folder))
    check_names(said, trl_plugin.known_settings())
    settings = trl_plugin.settings(said)
    assert settings.grpo.gradient_accumulation_steps > 1
    assert settings.grpo.max_steps == settings.selfplay.rounds


@pytest.mark.parametrize("able", [True, False])
def test_only_a_run_on_the_cpu_takes_its_bf16(
    able: bool, model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    monkeypatch.setattr("torch.cpu.get_capabilities", lambda: {"avx2": True, "amx_bf16": able})
    found = {
        name: trl_plugin.settings(read_words(words(name, model_folder))).grpo.bf16
        for name in ("demo", "single_gpu_4b")
    }
    assert found == {"demo": able, "single_gpu_4b": False}


@pytest.mark.parametrize("name", preset_names())
def test_a_preset_can_be_tried_dry(
    name: str, model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    console = Console(file=io.StringIO(), width=200)
    dry_run(trl_plugin.settings(read_words(words(name, model_folder))), console)
    told = console.file.getvalue()  # type: ignore[attr-defined]
    assert "peak" in told
    assert ("The designer's first prompt" in told) is (name != "ablation_fixed_environments")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", preset_names())
def test_a_preset_says_what_it_is_for_and_where_it_has_been_run(name: str) -> None:
    comment = (FOLDER / f"{name}.yaml").read_text()
    assert comment.startswith("# ")
    assert "# Run on: " in comment


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text)


def test_what_a_file_says_wins_over_what_it_extends(tmp_path: Path) -> None:
    write(tmp_path, base="extends: demo\nrounds: 7\nseed: 1\n", mine="extends: base.yaml\nrounds: 9\n")
    preset = read_preset(str(tmp_path / "mine.yaml"))
    assert (preset.settings["rounds"], preset.settings["seed"], preset.settings["turn_tokens"]) == (9, 1, 12)
    assert preset.places["rounds"].name == "mine.yaml"
    assert preset.places["seed"].name == "base.yaml"
    assert "extends" not in preset.settings


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"mine": "extends: mine.yaml\n"}, "in a circle: mine.yaml -> mine.yaml"),
        (
            {"mine": "extends: a.yaml\n", "a": "extends: mine.yaml\n"},
            "in a circle: mine.yaml -> a.yaml -> mine.yaml",
        ),
        ({"mine": "extends: cpuu\n"}, "mine.yaml: extends: cpuu: there is no such file.*Did you mean cpu?"),
        ({"mine": "extends: [cpu]\n"}, "it names one preset or one file"),
        ({"mine": "extends: ablation_fixed_designer\n"}, "ablation_fixed_designer wants designer_backend"),
        ({"mine": "extends: node_8gpu_30b\n"}, "single_gpu_4b wants model_name_or_path"),
        ({"mine": "rounds: 1\nrounds: 2\n"}, "rounds stands there twice"),
        ({"mine": "extends: a.yaml\n", "a": "- 1\n"}, "a.yaml holds no settings"),
    ],
)
def test_a_wrong_file_is_named(files: dict[str, str], found: str, tmp_path: Path) -> None:
    write(tmp_path, **files)
    with pytest.raises(UsageError, match=found):
        read_words(["--config", str(tmp_path / "mine.yaml")])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("rounds: 3.5", "rounds is 3.5; it must be a whole number"),
        ("rounds: true", "rounds is True; it must be a whole number"),
        ("learning_rate: fast", "learning_rate is 'fast'; it must be a number"),
        ("memory: 3", "memory is 3; it must be true or false"),
        ("designer: poet", "it must be one of slots, edit, compose, two_stage, free, grow, none"),
        ("curriculum: spade/LampRow-v0", r"it must be a list, such as \[spade/LampRow-v0\]"),
        ("learning_rate: .nan", "it must be a finite number"),
    ],
)
def test_a_value_of_another_kind_names_its_file(text: str, found: str, tmp_path: Path) -> None:
    write(tmp_path, mine=f"extends: demo\n{text}\n")
    with pytest.raises(UsageError, match=found):
        trl_plugin.settings(read_words(["--config", str(tmp_path / "mine.yaml")]))


def test_a_number_in_the_form_1e_5_is_a_number(tmp_path: Path) -> None:
    write(tmp_path, mine="extends: demo\nlearning_rate: 1e-5\n")
    said = read_words(["--config", str(tmp_path / "mine.yaml")])
    assert trl_plugin.settings(said).grpo.learning_rate == 1e-5
