"""Wrong use is told in one line, before a model is loaded; help answers before torch is."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from spade_train.cli import main

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")


LORA = ["--upper_layers", "0", "--use_peft", "--lora_r", "4", "--lora_target_modules", "all-linear"]


def run(*words: str) -> int:
    with pytest.raises(SystemExit) as left:
        main(list(words))
    return int(left.value.code or 0)


def test_help_has_examples_and_imports_no_torch() -> None:
    program = "import sys; from spade_train.cli import main; main(['--help']); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "examples:" in done.stdout
    assert "--designer_reward" in done.stdout
    assert done.stdout.endswith("False\n")


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["--config", "nowhere.yaml"], "no such preset. Presets: "),
        (["--config"], "wants the name"),
        (["--num_generation", "4"], "Did you mean num_generations?"),
        (["--round", "4"], "Did you mean rounds?"),
        (["--rounds", "0"], "rounds is 0; it must be at least 1"),
        (["--rounds", "many"], "invalid int value"),
        (["--designer", "poet"], "invalid choice"),
        (["--max_steps", "9"], "follows from --rounds"),
        (["--cache_implementation", "static"], "does not reach what samples both roles"),
        (["--per_device_train_batch_size", "3"], "Choose one of 1, 2, 4, 5, 10, 20"),
        (["--num_generations", "1"], "at least 2"),
        (["--turn_tokens", "500"], "exceeds max_completion_length"),
        (["--use_peft"], "contradict each other"),
        (["--format_reward", "1.5"], "below what success earns"),
        (["--bf16", "true", "--fp16", "true"], "fp16"),
        (["--model_name_or_path", "./nowhere"], "there is no such folder"),
        (["--curriculum", "spade/Nowhere-v0"], "there is no environment spade/Nowhere-v0"),
        (["--repetition_penalty", "0"], "must be greater than 0"),
        (["--top_p", "2"], "must be at most 1"),
        (["--warm_up_learning_rate", "-1"], "must not be negative"),
        (["--designer_reward", "regret=1", "regret=0"], "stands there twice"),
        (["--designer_reward", "regrets"], "Did you mean 'regret'?"),
        (["--run_name", "../evil"], "one folder's name"),
        (["--ignore_data_skip", "true"], "spade-train resume"),
        (["--designer_model", "./no"], "designer_model ./no: there is no such folder"),
        (["--designer_model", "x", "--beta", "0.1"], "holds a reference of the agent's model alone"),
        (["--designer_model", "x", *LORA], "designer_model and use_peft contradict each other"),
        (["--designer_model", "x", *LORA, "--role_adapters"], "role_adapters and designer_model contradict"),
        (["--designer", "none", "--schedule", "agent_frozen"], "leave nobody who learns"),
        (["--config", "ablation_fixed_designer"], "ablation_fixed_designer wants designer_backend"),
        (
            ["--environment_weights", "spade/LampRwo=2"],
            "environment_weights: there is no environment spade/LampRwo. Did",
        ),
        (["--environment_weights", "spade/LampRow-v9=2"], "Did you mean spade/LampRow-v0?"),
        (["--round_retries", "-1"], "it must be at least 0"),
    ],
)
def test_wrong_use_is_one_line(
    words: list[str], found: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(*words, "--runs", str(tmp_path / "runs")) == 2 if words != ["--config"] else run(*words) == 2
    message = capsys.readouterr().err
    assert found in message
    assert "Traceback" not in message
    assert not (tmp_path / "runs").exists(), "nothing has begun"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("round: 3\n", "Did you mean rounds?"),
        ("- 3\n", "holds no settings"),
        ("rounds: [3\n", "is not YAML"),
        ("shuffle_dataset: true\n", "order of the blocks"),
    ],
)
def test_a_wrong_preset_names_the_file(
    text: str, found: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "my.yaml"
    path.write_text(text)
    assert run("--config", str(path)) == 2
    assert found in capsys.readouterr().err


@pytest.mark.parametrize(
    ("config", "words", "found"),
    [
        ("null", [], "is not a run's"),
        ("{}", [], "is not a run's"),
        ('{"flags": 5', [], "cannot be read"),
        ("", ["--dry_run"], "dry_run cannot be said to resume"),
        ("", ["--curriculum", "spade/LampRow-v0"], "curriculum cannot be said to resume"),
        ("", ["--model_name_or_path=other"], "model_name_or_path cannot be said to resume"),
        ("", ["--num_iterations", "2"], "num_iterations cannot change within a run"),
        ("", ["--upper_layers", "2"], "its checkpoints have been made with 1"),
        ("", ["--schedule", "joint"], "designer_model has never learned in this run's checkpoints"),
        ("", ["--designer_model", "other"], "designer_model cannot be said to resume"),
        ("", ["--config", "cpu"], "config cannot be said to resume: a run keeps its own"),
        ("", ["--roundz", "2"], "Did you mean rounds?"),
    ],
)
def test_a_run_that_cannot_go_on_says_why(
    config: str, words: list[str], found: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = {
        "preset": "demo",
        "preset_settings": {},
        "flags": ["--upper_layers", "1", "--schedule", "designer_frozen", "--designer_model", "one"],
        "model": str(tmp_path),
        "curriculum": {},
        "versions": {},
        "grpo": {"num_iterations": 1},
        "selfplay": {"upper_layers": 1, "schedule": "designer_frozen", "designer_model": "one"},
    }
    (tmp_path / "config.json").write_text(config or json.dumps(whole))
    assert run("resume", str(tmp_path), *words) == 2
    message = capsys.readouterr().err
    assert found in message
    assert "Traceback" not in message


def test_a_folder_that_holds_no_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--model_name_or_path", str(tmp_path)) == 2
    assert "config.json and tokenizer_config.json missing" in capsys.readouterr().err


def test_a_wrong_command_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("resum", "runs/mine") == 2
    assert "Did you mean resume?" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["resume"], ["rollback", "runs/mine"], ["rollback", "runs/mine", "two"]])
def test_a_command_says_what_it_wants(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*words) == 2
    assert f"See spade-train {words[0]} --help." in capsys.readouterr().err


@pytest.mark.parametrize("command", ["resume", "rollback", "list", "show"])
def test_each_command_has_help_with_examples(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(command, "--help") == 0
    assert f"spade-train {command} runs" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["resume"], ["rollback", "1"]])
def test_a_folder_without_a_run(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words[0], str(tmp_path), *words[1:]) == 2
    assert "holds no run" in capsys.readouterr().err
