"""Two whole rounds with TRL and isolated environments: what reaches the loss is what was played, and no more."""

from __future__ import annotations

import contextlib
import io
import json
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GRPOTrainer

from spade_train.cli import main
from spade_train.rewards.advantages import Advantages
from spade_train.rounds import Round, Row
from spade_train.selfplay import SelfPlay
from spade_train.trl_plugin import Settings

G, ROUNDS = 2, 2
CURRICULUM = ("spade/OasisWalk-v0", "spade/WordSorter-v0")


def flags(model: Path, runs: Path) -> list[str]:
    return (
        f"--model_name_or_path {model} --runs {runs} --run_name tiny --seed 2 --rounds {ROUNDS} --num_generations {G} "
        "--per_device_train_batch_size 3 --max_completion_length 120 --turn_tokens 6 --learning_rate 1e-2 "
        f"--upper_layers 1 --bf16 false --curriculum {' '.join(CURRICULUM)}"
    ).split()


@dataclass
class Seen:
    """What was observed of a run."""

    path: Path
    rounds: list[Round] = field(default_factory=list)
    earned: list[list[float]] = field(default_factory=list)
    inputs: list[dict[str, torch.Tensor]] = field(default_factory=list)
    gradients: list[torch.Tensor] = field(default_factory=list)
    output: str = ""

    def rows(self) -> Iterator[tuple[int, int, dict[str, torch.Tensor], torch.Tensor]]:
        """Yield (round, row of the round, TRL's row, gradient at its tokens' log-probabilities)."""
        per_round = (G + G * G) // 3
        for at, (inputs, gradient) in enumerate(zip(self.inputs, self.gradients, strict=True)):
            known = [(row.prompt_ids, row.completion_ids) for row in self.rounds[at // per_round].rows]
            taken: set[int] = set()
            for k in range(len(gradient)):
                row = {name: value[k] for name, value in inputs.items() if value.dim()}
                prompt = tuple(row["prompt_ids"][row["prompt_mask"].bool()].tolist())
                completion = tuple(row["completion_ids"][row["completion_mask"].bool()].tolist())
                same = [n for n, ids in enumerate(known) if ids == (prompt, completion) and n not in taken]
                advantages = [self.advantages(at // per_round)[n] for n in same]
                n = same[min(range(len(same)), key=lambda i: abs(advantages[i] - row["advantages"]))]
                taken.add(n)
                yield at // per_round, n, row, gradient[k]

    def advantages(self, number: int) -> torch.Tensor:
        """Return each row's advantage by GRPO's formula, over blocks of G rows."""
        blocks = torch.tensor(self.earned[number]).view(-1, G)
        return ((blocks - blocks.mean(1, keepdim=True)) / (blocks.std(1, keepdim=True) + 1e-4)).flatten()


@pytest.fixture(scope="module")
def seen(model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Seen:
    seen = Seen(tmp_path_factory.mktemp("runs") / "tiny")
    play_round, worth = SelfPlay.round, Settings.advantages
    compute, score = (
        getattr(GRPOTrainer, name) for name in ("_compute_loss", "_get_per_token_logps_and_entropies")
    )

    def keep_round(self: SelfPlay, *arguments: Any) -> Round:
        seen.rounds.append(play_round(self, *arguments))
        return seen.rounds[-1]

    def earn(self: Settings, rows: Sequence[Row]) -> Advantages:
        """Rewards that differ in every block: a random model earns none."""
        seen.earned.append([float(n * n % 7 + len(seen.earned)) for n in range(len(rows))])
        return worth(self, [replace(row, reward=r) for row, r in zip(rows, seen.earned[-1], strict=True)])

    def keep_inputs(self: Any, model: Any, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        seen.inputs.append({name: value.clone() for name, value in inputs.items()})
        loss: torch.Tensor = compute(self, model, inputs)
        return loss

    def keep_gradient(self: Any, *arguments: Any, **options: Any) -> Any:
        scores = score(self, *arguments, **options)
        scores[0].register_hook(lambda gradient: seen.gradients.append(gradient.clone()))
        return scores

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SelfPlay, "round", keep_round)
        patch.setattr(Settings, "advantages", earn)
        patch.setattr(GRPOTrainer, "_compute_loss", keep_inputs)
        patch.setattr(GRPOTrainer, "_get_per_token_logps_and_entropies", keep_gradient)
        patch.setenv("NO_COLOR", "1")
        with contextlib.redirect_stdout(io.StringIO()) as output:
            main(flags(model_folder, seen.path.parent))
    seen.output = output.getvalue()
    return seen


def test_a_batch_is_one_designer_block_and_g_agent_blocks(seen: Seen) -> None:
    assert len(seen.rounds) == ROUNDS
    for played in seen.rounds:
        assert [row.role for row in played.rows] == ["designer"] * G + ["agent"] * G * G
        for at in range(0, len(played.rows), G):
            assert len({row.prompt_ids for row in played.rows[at : at + G]}) == 1
        for design, one in played.pairs:
            (block,) = one.blocks
            assert {play.task for play in block.plain} == {block.plain[0].task}
            assert {(play.task.env_id, play.task.seed) for play in (*block.plain, *block.hinted)} == {
                (block.env_id, block.seed)
            }
            assert block.env_id == design.env_id if design.env_id else block.env_id in CURRICULUM
            assert not any(play.task.hinted for play in block.plain)
            assert all(play.task.hinted for play in block.hinted)
        assert [row.completion_ids for row in played.rows[G:]] == [
            play.completion_ids for one in played.played for block in one.blocks for play in block.plain
        ]


def test_every_row_reaches_the_loss_once_as_it_was_sampled(seen: Seen) -> None:
    rows = list(seen.rows())
    assert [(number, n) for number, n, _, _ in sorted(rows, key=lambda row: row[:2])] == [
        (number, n) for number in range(ROUNDS) for n in range(G + G * G)
    ]
    for number, n, row, _ in rows:
        length = int(row["completion_mask"].sum())
        assert row["tool_mask"][:length].tolist() == list(seen.rounds[number].rows[n].mask)


def test_baselines_are_taken_block_by_block(seen: Seen) -> None:
    for number, n, row, _ in seen.rows():
        assert row["advantages"].item() == pytest.approx(seen.advantages(number)[n].item(), abs=1e-4)


def test_gradient_reaches_sampled_tokens_alone(seen: Seen) -> None:
    reached = {"designer": 0, "agent": 0}
    for number, n, row, gradient in seen.rows():
        played = seen.rounds[number].rows[n]
        sampled = torch.zeros(len(gradient), dtype=torch.bool)
        sampled[: len(played.mask)] = torch.tensor(played.mask).bool()
        assert row["advantages"] != 0
        assert torch.equal(gradient != 0, sampled)
        reached[played.role] += int(sampled.sum())
    assert all(reached.values()), reached


def test_weights_change_and_the_checkpoint_loads(seen: Seen, model_folder: Path) -> None:
    before, after = (
        AutoModelForCausalLM.from_pretrained(p) for p in (model_folder, seen.path / "checkpoint")
    )
    pairs = zip(before.named_parameters(), after.parameters(), strict=True)
    moved = {name for (name, a), b in pairs if not torch.equal(a, b)}
    assert moved == {name for name, _ in before.named_parameters() if ".layers.1." in name}, "the upper layer"
    assert AutoTokenizer.from_pretrained(seen.path / "checkpoint").chat_template


def test_the_records_tell_what_happened(seen: Seen) -> None:
    read = {
        name: [json.loads(line) for line in (seen.path / f"{name}.jsonl").read_text().splitlines()]
        for name in ("rounds", "designs", "episodes", "contexts")
    }
    told = [{reason["piece"] for reason in one["reasons"]} for one in read["contexts"]]
    assert told[0] == {"document", "pool"}
    assert told[1] >= {"document", "pool", "profile", "target"}
    prompts = {(one["round"], one["prompt_hash"]) for one in read["designs"]}
    assert {(one["round"], one["prompt_hash"]) for one in read["contexts"]} == prompts
    assert [len(read[name]) for name in ("rounds", "designs", "episodes")] == [
        ROUNDS,
        ROUNDS * G,
        ROUNDS * G * 2,
    ]
    for entry in read["rounds"]:
        assert entry["gradient"]["designer"] > 0
        assert entry["gradient"]["agent"] > 0
        assert set(entry["seconds"]) == {"design", "admit", "play", "train"}
        assert entry["diversity"]["designs"] == G
    for entry in read["designs"]:
        assert (entry["env_id"] is None) == bool(entry["refusal"])
    assert {entry["hinted"] for entry in read["episodes"]} == {False, True}
    assert json.loads((seen.path / "config.json").read_text())["grpo"]["num_generations"] == G


def test_the_printed_line_makes_a_new_environment(seen: Seen, tmp_path: Path) -> None:
    made = {design.env_id for played in seen.rounds for design in played.designs if design.env_id}
    assert made, "with this seed something is admitted"
    assert f"{len(made)} new" in seen.output
    (line,) = [line for line in seen.output.splitlines() if " -c " in line]
    subprocess.run(shlex.split(line), check=True, cwd=tmp_path, capture_output=True)


def test_an_interrupted_run_leaves_nothing_half_written(
    model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(SelfPlay, "round", stop)
    with pytest.raises(SystemExit) as left:
        main(flags(model_folder, tmp_path))
    assert left.value.code == 130
    assert "stays in the run's folder" in capsys.readouterr().out
    assert not list((tmp_path / "tiny").glob("checkpoint*/*"))
