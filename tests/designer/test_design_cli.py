"""``spade-train design``: one prompt printed, designs made and admitted, wrong words said so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from test_drafting import TRAIN, Script, fenced

from spade_envs import Registry
from spade_train import backends
from spade_train.backends import Failed
from spade_train.cli import main
from spade_train.designer.ways import WAYS


def run(words: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    try:
        main(["design", *words.split()])
    except SystemExit as end:
        code = int(end.code or 0)
    else:
        code = 0
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("style", ["", "--brief"])
def test_a_dry_run_prints_one_prompt_with_tokens_and_hash(
    way: str, style: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(f"--dry_run --json --way {way} {style}", capsys)
    assert code == 0
    told = json.loads(out)
    assert told["way"] == way
    assert 0 < told["tokens"] <= 6_000
    assert len(told["sha256"]) == 64
    assert told["messages"][-1]["role"] == "user"
    assert json.loads(run(f"--dry_run --json --way {way} {style}", capsys)[1]) == told
    assert (
        json.loads(run(f"--dry_run --json --way {way} {style} --seed 5", capsys)[1])["sha256"]
        != told["sha256"]
    )


def test_a_dry_run_reads_well(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run("--dry_run --target parity --no_corpus", capsys)
    assert code == 0
    assert "# The contract" in out
    assert "It trains parity." in out
    assert out.rstrip().splitlines()[-1].startswith("--- way free, tokens ")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("", "wants --model"),
        ("--count 0 --dry_run", "--count is 0"),
        ("--way best --dry_run", "invalid choice"),
        ("--dry_run --way edit --parent spade/LampRo-v0", "Did you mean spade/LampRow-v0?"),
        ("--dry_run --window 200", "Allow"),
        ("--model nowhere.gguf", "nowhere.gguf"),
        ("--dry_run --corpus nothing.jsonl", "nothing.jsonl"),
    ],
)
def test_wrong_use_is_said_in_a_line(words: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(words, capsys)
    assert code == 2
    assert says in err
    assert "Traceback" not in err


def test_designs_are_made_and_what_came_of_each_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPADE_REGISTRIES", "")  # what the command adds is gone after the test
    script = Script([fenced(TRAIN), Failed("the server is gone")])
    monkeypatch.setattr(backends, "open_backend", lambda address: script)
    code, out, _ = run(
        f"--model openai:http://127.0.0.1:1/v1#m --brief --count 2 --registry {tmp_path / 'r'}", capsys
    )
    assert code == 0
    assert "admitted as spade/NightTrain-v0" in out
    assert "refused: the server is gone [backend.failed]" in " ".join(out.split())
    assert "1 of 2 admitted" in out
    assert [str(entry.header.id) for entry in Registry(tmp_path / "r").entries()] == ["spade/NightTrain-v0"]
