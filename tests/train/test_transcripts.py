"""A run's plays as data: conversations are token for token what was played, and load as TRL wants them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from datasets import load_dataset
from killing import lucky_registry

from spade_envs import make_text
from spade_train.cli import main
from spade_train.playing.decoding import Policy
from spade_train.playing.play import Episode, Limits, Task, play
from spade_train.runs.entries import play_entry
from spade_train.transcripts.kinds import pairs, successes
from spade_train.transcripts.replaying import Played, Replayer, read_plays

TOOLS = "spade/StockRoom-v0"


def make(env_id: str, **arguments: Any) -> Any:
    return make_text(env_id, action_format="raw", **arguments)


@pytest.fixture(scope="module")
def episodes(model: Any, tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> Sequence[Episode]:
    """Plays of an environment that a random model wins at times, and of one with tools; from few seeds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPADE_REGISTRY", str(lucky_registry(tmp_path_factory.mktemp("lucky"))))
        policy = Policy(model, tokenizer, generator=torch.Generator().manual_seed(1))
        tasks = [Task("spade/Lucky-v0", seed) for seed in (3, 4) for _ in range(8)] + [
            Task(TOOLS, 5),
            Task(TOOLS, 5),
        ]
        with torch.no_grad():
            return play(policy, tasks, make, Limits(1500, 8, 120))


@pytest.fixture
def run(
    episodes: Sequence[Episode],
    policy: Policy,
    model_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    monkeypatch.setenv("SPADE_REGISTRY", str(lucky_registry(tmp_path / "lucky")))
    folder = tmp_path / "run"
    folder.mkdir()
    kinds = {"preset": "", "preset_settings": {}, "flags": [], "curriculum": {}, "versions": {}, "grpo": {}}
    config = {**kinds, "model": str(model_folder), "selfplay": {"action_format": "raw"}}
    (folder / "config.json").write_text(json.dumps(config))
    entries = [play_entry(one, policy, 0, None) for one in episodes]
    entries.append({**entries[0], "hinted": True})
    (folder / "plays.jsonl").write_text("".join(json.dumps(one) + "\n" for one in entries))
    return folder


def recorded(run: Path) -> list[Played]:
    return read_plays(map(json.loads, (run / "plays.jsonl").read_text().splitlines()))


def test_a_conversation_is_token_for_token_what_was_played(
    run: Path, episodes: Sequence[Episode], policy: Policy
) -> None:
    replayer = Replayer(make, policy.chat)
    found = replayer.transcripts(recorded(run))
    assert replayer.left_out == {}
    assert len(found) == len(episodes)
    for one, episode in zip(found, episodes, strict=True):
        assert policy.ids(policy.chat.render(one.prompt, one.tools)) == list(episode.prompt_ids)
        assert [m["content"] for m in one.completion if m["role"] == "assistant"] == episode.replies(policy)
        assert [m["role"] for m in one.completion][::2] == ["assistant"] * len(one.played.replies)
        seen = [m["content"] for m in one.completion if m["role"] != "assistant"]
        text = policy.tokenizer.decode(episode.completion_ids)
        assert all(policy.chat.between(part, one.tools).strip() in text or part in text for part in seen)


def test_plays_that_do_not_repeat_are_left_out(run: Path, policy: Policy) -> None:
    lines = [json.loads(line) for line in (run / "plays.jsonl").read_text().splitlines()]
    lines[0]["return"] += 1
    lines[1]["env_id"] = "spade/Nowhere-v0"
    replayer = Replayer(make, policy.chat)
    assert len(replayer.transcripts(read_plays(lines))) == len(lines) - 3
    assert replayer.left_out == {"it came to another end": 1, "the environment cannot be made any more": 1}


def test_pairs_begin_alike_and_no_play_stands_in_two(run: Path) -> None:
    plays = recorded(run)
    found = pairs(plays)
    assert found, "with this seed both happen"
    assert all(won.start == lost.start and won.success and not lost.success for won, lost in found)
    used = [(one.start, one.replies) for pair in found for one in pair]
    assert len(used) == len(set(used))
    once = successes(plays + plays)
    assert once == successes(plays)
    assert all(one.success for one in once)


@pytest.mark.parametrize(
    ("kind", "columns"), [("sft", ["messages"]), ("preference", ["prompt", "chosen", "rejected"])]
)
def test_a_data_set_loads_and_renders(
    kind: str,
    columns: list[str],
    run: Path,
    tmp_path: Path,
    policy: Policy,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "data.jsonl"
    main(["data", str(run), "--kind", kind, "--out", str(out), "--json"])
    said = json.loads(capsys.readouterr().out)
    rows = load_dataset("json", data_files=str(out), split="train", cache_dir=str(tmp_path / "cache"))
    assert len(rows) == said["rows"] > 0
    for row in rows:
        assert all(row[name][-1]["role"] == ("user" if name == "prompt" else "assistant") for name in columns)
        whole = row["messages"] if kind == "sft" else row["prompt"] + row["chosen"]
        assert whole[-1]["content"] in policy.tokenizer.apply_chat_template(whole, tokenize=False)


def test_a_run_without_any_is_told(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (run / "plays.jsonl").write_text("")
    with pytest.raises(SystemExit) as left:
        main(["data", str(run), "--kind", "sft", "--out", str(tmp_path / "x.jsonl")])
    assert left.value.code == 2
    assert "no play with the agent's words on record" in capsys.readouterr().err
