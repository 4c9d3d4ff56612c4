"""What the designer saw is told with its reasons; broken records and hostile texts harm nobody."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from spade_envs.records import Measured
from spade_train.briefing import Brief, remembered
from spade_train.cli import main
from spade_train.config import SelfPlayConfig
from spade_train.corpus import FEW, Corpus, Document
from spade_train.designer import Reason
from spade_train.memory import Memory, PoolStatistics, Record
from spade_train.runs.folder import RunFolder

CONFIG = SelfPlayConfig()


def full() -> Memory:
    memory = Memory(
        [
            Record(0, "spade/Sorter-v0", "Sorter", "Sort the words.", ("sorting",)),
            Record(0, "spade/Maze-v0", "Maze", "Walk through the maze.", ("space",)),
            Record(
                1,
                "spade/Wall-v0",
                "Wall",
                "Build a wall.",
                reason="design:9: random play wins 5 of 8\n  Ask for more.",
            ),
        ]
    )
    plays = [
        Measured("spade/Sorter-v0", "r", 1, 8, 8, 0, 0.5, 0.5, 0.75, 0.25, 0.0, 0.5),
        Measured("spade/Maze-v0", "r", 1, 8, 8, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    ]
    memory.learn(1, plays, {"spade/Sorter-v0": ["sorting"], "spade/Maze-v0": ["space"]})
    return memory


def brief(config: SelfPlayConfig = CONFIG, draw: int = 0) -> Brief:
    corpus = Corpus.of([Document("A text.", "stories.jsonl:12")])
    return Brief(config, 2, 7, corpus, draw, PoolStatistics(3))


def test_every_piece_of_a_context_has_its_reason() -> None:
    context = brief().context(full())
    pieces = [(one.piece, one.what) for one in context.reasons]
    assert pieces[0] == ("document", "stories.jsonl:12")
    assert [what for piece, what in pieces if piece == "profile"] == ["space", "sorting"]
    assert ("pool", "3 active, 0 mastered, 0 too hard") in pieces
    assert ("target", context.target) in pieces
    assert pieces[-3:] == [
        ("good before", "spade/Sorter-v0"),
        ("bad before", "spade/Wall-v0"),
        ("lesson", context.lessons[0]),
    ]
    assert len(context.digest.splitlines()) == 2
    assert context.pool == PoolStatistics(3)
    assert remembered(context.reasons) == ["spade/Sorter-v0", "spade/Wall-v0"]
    assert all(one.why for one in context.reasons)


def test_equal_memories_give_equal_contexts_and_prompts_targets_of_their_own() -> None:
    again = Memory.from_state(json.loads(json.dumps(full().state())))
    assert brief().context(full()) == brief().context(again)
    assert {brief(draw=draw).context(full()).target for draw in range(20)} == {"space", "sorting"}


@pytest.mark.parametrize(("few", "follows"), [(0, True), (1, False)])
def test_the_document_is_about_the_target_where_there_are_enough(few: int, follows: bool) -> None:
    texts = ("A matrix is a table of numbers.", "Sort a queue by merging, as an algorithm does.")
    other, about = ([Document(f"{text} {n}", f"{text[0]}:{n}") for n in range(40)] for text in texts)
    memory = Memory()
    memory.learn(
        1,
        [Measured("spade/S-v0", "r", 1, 8, 8, 0, 0.5, 0.5, 0.75, 0.25, 0.0, 0.5)],
        {"spade/S-v0": ["sorting"]},
    )
    corpus = Corpus.of([*other, *about[: FEW - few]])
    contexts = [Brief(CONFIG, 2, 7, corpus=corpus, draw=draw).context(memory) for draw in range(FEW)]
    drawn = [one.document.source for one in contexts if one.document]
    assert all(source.startswith("S") for source in drawn) == follows
    assert len(set(drawn)) == FEW
    assert all(("about sorting" in one.reasons[0].why) == follows for one in contexts)


def test_settings_leave_pieces_out() -> None:
    bare = brief(SelfPlayConfig(memory=False, profile=False, target_skill=False)).context(full())
    assert (bare.digest, bare.lessons, bare.profile, bare.pool, bare.target) == ("", (), (), None, None)
    assert [one.piece for one in bare.reasons] == ["document"]
    assert Brief(CONFIG, 0, 7).context(Memory()).reasons == ()


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    run = RunFolder.create(tmp_path, "mine")
    run.write_config({})
    reasons = [*brief().context(full()).reasons, Reason("plan", "\x1b[31mred", "it was asked first")]
    context = {
        "rank": 0,
        "prompt_hash": "abc",
        "prompt_tokens": 99,
        "reasons": [asdict(one) for one in reasons],
    }
    run.append("contexts.jsonl", [{"round": 0, **context}, {"round": 2, **context}])
    design = {
        "prompt_hash": "abc",
        "slot": 0,
        "env_id": None,
        "refusal": "design:3: no\n  Mend it.",
        "reward": -0.5,
    }
    run.append("designs.jsonl", [{"round": 2, **design}, {"round": 0, **design, "env_id": "spade/New-v0"}])
    return run


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    main(["saw", *words])
    return capsys.readouterr().out


def test_the_last_round_or_a_named_one_is_shown(run: RunFolder, capsys: pytest.CaptureFixture[str]) -> None:
    shown = said(capsys, str(run.path))
    assert shown.startswith("round 3: prompt abc, 99 tokens")
    assert "design 0: refused: design:3: no" in shown
    assert "spade/Sorter-v0" in shown
    assert "\x1b[31m" not in shown
    assert "design 0: spade/New-v0" in said(capsys, str(run.path), "1")


def test_json_holds_everything(run: RunFolder, capsys: pytest.CaptureFixture[str]) -> None:
    (one,) = json.loads(said(capsys, str(run.path), "--json"))
    assert (one["round"], one["prompt_hash"], one["designs"][0]["refusal"]) == (
        2,
        "abc",
        "design:3: no\n  Mend it.",
    )
    assert {"piece", "what", "why"} == set(one["reasons"][0])


def test_a_round_without_designs_names_those_with(run: RunFolder, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["saw", str(run.path), "2"])
    assert left.value.code == 2
    assert "designed nothing in round 2. Name one of 1, 3." in capsys.readouterr().err


@pytest.mark.parametrize(
    "line", [b'{"round": 2, "rea', b"3\n", b'{"round": 5}\n', b'{"round": 5, "reasons": [1]}\n', b"\xff\n"]
)
def test_broken_records_are_passed_over(
    run: RunFolder, capsys: pytest.CaptureFixture[str], line: bytes
) -> None:
    with (run.path / "contexts.jsonl").open("ab") as file:
        file.write(line)
    if line == b"\xff\n":  # no text at all: nothing of the file is read
        with pytest.raises(SystemExit):
            main(["saw", str(run.path)])
        assert "has no prompts on record" in capsys.readouterr().err
    else:
        assert said(capsys, str(run.path)).startswith("round 3")


def test_a_run_of_an_earlier_version_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = RunFolder.create(tmp_path, "old")
    run.write_config({})
    with pytest.raises(SystemExit) as left:
        main(["saw", str(run.path)])
    assert left.value.code == 2
    assert "an earlier version made the run" in capsys.readouterr().err
