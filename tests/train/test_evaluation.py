"""A model's plays of suites: the same draws for every model, the run's own left alone, records between rounds."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from killing import flags, lucky_registry
from train_stand_ins import Count, ScriptedPolicy

from spade_train.cli import main
from spade_train.config import SelfPlayConfig
from spade_train.evaluation import Item, Skipped, Suite, figures
from spade_train.evaluation.between import BetweenRounds, told
from spade_train.evaluation.playing import Plan, evaluate
from spade_train.playing.decoding import Policy
from spade_train.playing.play import Limits
from spade_train.report.page import html_of, report_of
from spade_train.report.reading import RunReader, read_run
from spade_train.report.series import last_of_each
from spade_train.runs.folder import RunFolder
from spade_train.runs.views import rounds, sampled, view_run
from spade_train.world import World

LIMITS = Limits(prompt=512, turn=8, completion=120)
ITEMS = tuple(Item("count", seed) for seed in range(3))
SUITE = Suite("count", ITEMS, lambda _, **__: Count(), examples=2)


def test_every_item_is_played_as_often_and_counted(model: Any, tokenizer: Any) -> None:
    right = tuple(f"<answer>{n}</answer>" for n in (1, 2, 3))
    policy = ScriptedPolicy(model, tokenizer, script=(right, ("no",) * 5))
    found = evaluate(policy, SUITE, Plan(2, replace(LIMITS, turn=16), together=2), items=ITEMS[:1])
    assert {item: [one.success for one in tries] for item, tries in found.items()} == {
        ITEMS[0]: [True, False]
    }
    assert [one.turns for one in found[ITEMS[0]]] == [3, 5]
    known = figures(found)
    assert (known.pass_k, known.every_k, known.steps) == (1.0, 0.0, 3.0)


class Heard(Count):
    """Keeps what was said."""

    def __init__(self, said: list[str]) -> None:
        self.said = said

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        self.said.append(action)
        return super().step(action)


def test_draws_are_the_suites_own_and_the_runs_are_left_alone(policy: Policy) -> None:
    assert policy.generator is not None
    before = (
        torch.get_rng_state(),
        random.getstate(),
        np.random.get_state()[1].copy(),
        policy.generator.get_state(),
    )
    heard: list[list[str]] = [[], [], []]
    for said, seed in zip(heard, (0, 0, 1), strict=True):
        suite = replace(SUITE, make=lambda _, said=said, **__: Heard(said))
        evaluate(policy, suite, Plan(2, LIMITS, seed, together=4))
    after = torch.get_rng_state(), random.getstate(), np.random.get_state()[1], policy.generator.get_state()
    assert heard[0] == heard[1]
    assert heard[0] != heard[2]
    assert torch.equal(before[0], after[0])
    assert before[1] == after[1]
    assert (before[2] == after[2]).all()
    assert torch.equal(before[3], after[3])


def test_between_rounds_processes_share_the_items(policy: Policy, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(
        "spade_train.evaluation.between.make_suites", lambda *_: [SUITE, Skipped("gone", "it is not here")]
    )

    class Half(World):
        def gather(self, value: Any) -> list[Any]:
            return [value]

    config = SelfPlayConfig(rounds=5, evaluate_rounds=2, evaluate_plays=1)
    run = RunFolder(tmp_path)
    one = BetweenRounds(config, 0, LIMITS, run, World())
    assert [done for done in range(6) if one.is_due(done, last=done == 5)] == [0, 2, 4, 5]
    assert not any(replace(one, config=SelfPlayConfig()).is_due(done, last=True) for done in range(6))
    first, skipped = one.evaluate(policy, 0)
    again, _ = one.evaluate(policy, 2)
    assert (again["gain"]["value"], again["items"]) == (0.0, first["items"])
    assert "since the beginning" in told(again)
    assert "since the beginning" not in told(first)
    assert told(skipped) == "SKIPPED gone: it is not here"
    assert run.read("evaluations.jsonl") == [first, skipped, again, skipped | {"round": 2}]
    (half, _) = replace(one, world=Half(1, 2)).evaluate(policy, 4)
    assert list(half["items"]) == ["count #1"]
    assert len(run.read("evaluations.jsonl")) == 4, "the first process writes"


@pytest.fixture(scope="module")
def run(model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose tokens are spent after the first of three rounds, evaluated before and after."""
    folder = tmp_path_factory.mktemp("evaluated")
    (folder / "questions.jsonl").write_text('{"question": "1 + 1?", "answer": 2}\n' * 3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPADE_REGISTRY", str(lucky_registry(folder / "lucky")))
        main(
            [
                *flags(model_folder, folder, "run", 3),
                *("--token_budget", "1", "--save_rounds", "3"),
                *("--seed", "42"),  # with it a design is refused, and its block plays the curriculum
                *("--evaluate_rounds", "2", "--evaluate_items", "2", "--evaluate_plays", "1"),
                *("--evaluate_suites", "history", str(folder / "questions.jsonl"), "aime"),
            ]
        )
    return folder / "run"


def test_a_run_is_evaluated_before_and_after(run: Path) -> None:
    lines = [json.loads(line) for line in (run / "evaluations.jsonl").read_text().splitlines()]
    assert [(one["round"], one["suite"], "skipped" in one) for one in lines] == [
        (0, "history", True),  # nothing was played yet
        (0, "questions", False),
        (0, "aime", True),
        (1, "history", False),
        (1, "questions", False),
        (1, "aime", True),
    ]
    assert "spade/Lucky-v0 #1000000" in lines[3]["items"]
    assert set(lines[4]["items"]) == set(lines[1]["items"])
    state = json.loads((run / "states" / "000001.json").read_text())
    assert state["sizes"]["evaluations.jsonl"] == (run / "evaluations.jsonl").stat().st_size
    assert "spade/Lucky-v0" in state["learnt"]


def test_the_report_of_a_real_run(run: Path) -> None:
    """Every line that a run writes is read; what its evaluations found is in the report."""
    reader = RunReader(RunFolder(run))
    report = report_of(reader)
    facts = report.run
    assert (facts.broken, [one.finished for one in facts.rounds]) == (0, [True])
    plays = RunFolder(run).read("plays.jsonl")
    assert facts.rounds[0].plain.plays == sum(not one["hinted"] and one["turns"] > 0 for one in plays)
    assert facts.rounds[0].designs.asked == 2
    assert facts.rounds[0].designs.refused
    for one in RunFolder(run).read("episodes.jsonl"):
        assert "".join(text for text, _ in one["pieces"]) == one["completion"]
        assert [own for _, own in one["pieces"]][:1] == [1]
    for one in plays:
        assert len(one["unread"]) == pytest.approx((1 - one["well_formed"]) * one["turns"])
    history = last_of_each(facts)["history"]
    assert (history.rounds, history.looked_at) == (1, 1)
    page = html_of(report)
    assert "history: forgotten" in page
    assert page.count("<svg") == 11
    assert report.pairs[0].env_id == "spade/Lucky-v0"


def test_a_run_ends_when_its_tokens_are_spent(
    run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPADE_REGISTRY", str(run.parent / "lucky"))
    view = view_run(RunFolder(run))
    assert (view.done, view.planned, view.state) == (1, 3, "finished")
    assert (run / "checkpoints" / "checkpoint-1" / "selfplay.json").is_file(), "it can go on from there"
    with pytest.raises(SystemExit) as ended:
        main(["resume", str(run)])
    spent = sampled(rounds(RunFolder(run)))
    assert ended.value.code == 2
    assert f"has sampled {spent:,} tokens. Say how far to go: --token_budget" in capsys.readouterr().err


@pytest.mark.soak
def test_a_trained_model_is_evaluated_beside_its_base(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPADE_REGISTRY", str(run.parent / "lucky"))
    out = tmp_path / "found.json"
    words = [
        "--plays",
        "2",
        "--items",
        "2",
        "--device",
        "cpu",
        "--suite",
        str(run.parent / "questions.jsonl"),
    ]
    main(["eval", str(run), *words, "history", "gpqa", "--out", str(out)])
    shown = capsys.readouterr().out
    assert "SKIPPED gpqa: it is not part of this package" in shown
    assert "history:" in shown
    found = json.loads(out.read_text())
    assert [one["suite"] for one in found["suites"]] == ["questions", "history"]
    assert found["settings"]["turn_tokens"] == 6
    for one in found["suites"]:
        assert all(len(item["plays"]) == len(item["base"]) == 2 for item in one["items"])
    facts = read_run(RunFolder(run))
    assert last_of_each(facts)["history"].rounds is None, "the report shows what was asked for by hand"
    assert last_of_each(facts)["questions"].gain is not None
    assert len(list((run / "evaluations").iterdir())) == 1
    base = found["base"]
    main(["eval", base, *words, "--base", base, "--json"])
    (same,) = json.loads(capsys.readouterr().out)["suites"]
    assert same["gain"]["value"] == 0.0
    assert all(item["plays"] == item["base"] for item in same["items"]), "the same draws for both"


@pytest.mark.parametrize(
    ("words", "code", "found"),
    [
        (["./nowhere"], 2, "there is no such folder"),
        (["--items", "0", "x/y"], 2, "must be at least 1"),
        (["x/y", "--run", "nowhere"], 2, "holds no run"),
        (["x/y", "--out", "no/where.json"], 2, "its folder is not there"),
        (["{model}", "--suite", "aime", "--base", "none"], 1, "every suite was skipped"),
        (["{model}", "--suite", "heldout=9"], 1, "every suite was skipped"),
        (["{model}", "--suite", "heldout=x"], 2, "a level is a number"),
        (["{model}", "--suite", "environments"], 2, "say which, as in environments=spade/"),
        (["{model}", "--suite", "environments=LampRow,LampRov"], 2, "spade/LampRow"),
    ],
)
def test_wrong_use_is_told(
    words: list[str], code: int, found: str, model_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(["eval", *(word.replace("{model}", str(model_folder)) for word in words)])
    assert left.value.code == code
    assert found in capsys.readouterr().err
