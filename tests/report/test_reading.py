"""A run's folder is read as it grows, whatever state it is in: going on, killed, taken back, broken, gone, older."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from run_stories import GIVEN, HEALTHY, config, rounds, tell

from spade_train.report import tail as tails
from spade_train.report.episodes import pair_at, some_pairs
from spade_train.report.reading import RunReader, read_run
from spade_train.report.tail import Tail
from spade_train.report.values import RunFacts
from spade_train.rewards.uncertainty import Tally, total
from spade_train.runs.folder import RunFolder

SHORT = replace(HEALTHY, rounds=6)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tell(tmp_path_factory.mktemp("told") / "run", SHORT).path


@pytest.fixture
def run(told: Path, tmp_path: Path) -> RunFolder:
    return RunFolder(shutil.copytree(told, tmp_path / "run"))


def lines(run: RunFolder, name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (run.path / f"{name}.jsonl").read_text().splitlines()]


def test_every_play_and_design_is_counted(run: RunFolder) -> None:
    facts = read_run(run)
    plays, designs = lines(run, "plays"), lines(run, "designs")
    for hinted, found in (
        (False, [one.plain for one in facts.rounds]),
        (True, [one.hinted for one in facts.rounds]),
    ):
        won = [bool(one["success"]) for one in plays if one["hinted"] == hinted]
        assert total(found) == Tally(sum(won), len(won))
    assert sum(one.designs.asked for one in facts.rounds) == len(designs)
    assert sum(one.designs.compiled for one in facts.rounds) == sum(bool(one["compiled"]) for one in designs)
    admitted = [one["env_id"] for one in designs if one["env_id"]]
    assert [env_id for one in facts.rounds for env_id in one.admitted] == admitted
    assert facts.born == {
        **dict.fromkeys(GIVEN, -1),
        **{one["env_id"]: one["round"] for one in designs if one["env_id"]},
    }
    after = [one for one in plays if one["unread"]]
    assert total(one.recovered for one in facts.rounds) == Tally(len(after), len(after))
    assert facts.broken == 0
    assert (facts.view.done, facts.view.planned) == (6, 6)


def written(whole: dict[str, bytes], run: RunFolder, upto: dict[str, int]) -> None:
    for name, data in whole.items():
        (run.path / name).write_bytes(data[: upto[name]])


@settings(max_examples=6)
@given(st.data())
def test_what_grows_in_any_steps_is_read_as_at_once(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Bytes come in any steps, lines cut anywhere; what came is read once."""
    folder = tmp_path_factory.mktemp("grows")
    source = tell(folder / "source", replace(HEALTHY, rounds=3))
    whole = {path.name: path.read_bytes() for path in source.path.glob("*.jsonl")}
    run = RunFolder.create(folder, "run")
    run.write_config(config(SHORT))
    reader, at = RunReader(run), dict.fromkeys(whole, 0)
    for _ in range(data.draw(st.integers(1, 4))):
        for name in sorted(whole):
            more = data.draw(st.integers(0, len(whole[name]) - at[name]))
            with (run.path / name).open("ab") as file:
                file.write(whole[name][at[name] : at[name] + more])
            at[name] += more
        reader.read()
    for name in whole:
        with (run.path / name).open("ab") as file:
            file.write(whole[name][at[name] :])
    assert bare(reader.read()) == bare(read_run(source))
    assert reader.episodes() == [*_with_episodes(source).episodes()]


def _with_episodes(run: RunFolder) -> RunReader:
    reader = RunReader(run)
    reader.read()
    return reader


def bare(facts: RunFacts) -> object:
    return (facts.rounds, facts.evaluations, facts.faults, facts.broken)


def test_what_was_read_is_not_read_again(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    reader, taken = RunReader(run), []
    take = RunReader._take
    monkeypatch.setattr(RunReader, "_take", lambda self, *words: (taken.append(words[0]), take(self, *words)))
    reader.read()
    first = len(taken)
    assert first > 100
    reader.read()
    assert len(taken) == first
    run.append("faults.jsonl", [{"round": 1, "kind": "OSError", "error": "no space"}])
    assert reader.read().faults == ("round 2: OSError: no space",)
    assert taken[first:] == ["faults"]


def test_a_run_that_is_taken_back_is_read_anew(run: RunFolder) -> None:
    sizes_by_round = {}
    fresh = RunFolder.create(run.path.parent, "again")
    fresh.write_config(config(SHORT))
    reader = RunReader(fresh)
    for number, files in enumerate(rounds(SHORT, 0)):
        for name, some in files.items():
            fresh.append(f"{name}.jsonl", some)
        sizes_by_round[number] = fresh.sizes()
        reader.read()
    fresh.cut(sizes_by_round[2])
    assert [one.number for one in reader.read().rounds] == [0, 1, 2]
    other = list(rounds(SHORT, 1))
    for files in other[3:]:
        for name, some in files.items():
            fresh.append(f"{name}.jsonl", some)
    assert bare(reader.read()) == bare(read_run(fresh)), "cut and grown beyond its old length meanwhile"


def test_rounds_that_are_played_again_count_once(run: RunFolder) -> None:
    """Weights alone were taken back: the records go on, with lower numbers."""
    again = list(rounds(SHORT, 5))
    for files in again[2:4]:
        for name in ("designs", "plays", "rounds"):
            run.append(f"{name}.jsonl", files[name])
    facts = read_run(run)
    assert [one.number for one in facts.rounds] == [0, 1, 2, 3]
    plays = [one for files in again[2:4] for one in files["plays"] if not one["hinted"]]
    assert sum(one.plain.plays for one in facts.rounds[2:]) == len(plays)


def test_a_round_that_is_not_done_is_known(run: RunFolder) -> None:
    going = list(rounds(replace(HEALTHY, rounds=7), 3))[6]
    run.append("designs.jsonl", going["designs"])
    facts = read_run(run)
    assert (facts.rounds[-1].number, facts.rounds[-1].finished) == (6, False)
    assert facts.rounds[-1].designs.asked == 4
    assert len(facts.done) == 6


HARM = {
    "half a line": b'{"round": 2, "des',
    "no JSON": b"\xff\x00{\n",
    "no object": b"3\n",
    "nothing": b"{}\n",
    "a round of words": b'{"round": "x"}\n',
    "numbers as words": b'{"round": 2, "turns": "many", "hinted": 3, "env_id": [], "gates": 1, "report": 5}\n',
    "deep": b"[" * 100_000 + b"\n",
    "a huge number": b'{"round": 1e999}\n',
    "another kind": b'{"round": 1, "env_id": {}, "seed": [], "hinted": "x", "compiled": {}, "report": []}\n',
}


@pytest.mark.parametrize(
    "name", ["rounds", "designs", "plays", "episodes", "contexts", "faults", "evaluations"]
)
@pytest.mark.parametrize("harm", HARM)
def test_a_broken_line_costs_itself_alone(name: str, harm: str, run: RunFolder) -> None:
    before = bare(read_run(run))
    with (run.path / f"{name}.jsonl").open("ab") as file:
        file.write(HARM[harm])
        if HARM[harm].endswith(b"\n"):
            file.write(b"\n")
    reader = RunReader(run)
    facts = reader.read()
    assert facts.rounds[:5] == before[0][:5]  # type: ignore[index]
    assert len(facts.done) == 6
    assert some_pairs(reader, 3)


@pytest.mark.parametrize(
    "config_", [b"", b"[]", b'{"curriculum": 3, "selfplay": [], "flags": 1, "preset": {}}']
)
def test_broken_settings(config_: bytes, run: RunFolder) -> None:
    (run.path / "config.json").write_bytes(config_)
    assert len(read_run(run).rounds) == 6


def test_folders_of_nothing(tmp_path: Path, run: RunFolder) -> None:
    assert read_run(RunFolder(tmp_path / "gone")).rounds == ()
    reader = RunReader(run)
    assert len(reader.read().rounds) == 6
    shutil.rmtree(run.path)
    assert reader.read().rounds == ()
    assert reader.episodes() == []


def test_a_line_that_is_gone_is_no_episode(run: RunFolder) -> None:
    reader = RunReader(run)
    reader.read()
    beginning = reader.episodes()[0]
    assert pair_at(reader, beginning) is not None
    os.truncate(run.path / "episodes.jsonl", 10)
    assert pair_at(reader, beginning) is None


def test_an_older_run_tells_what_it_can(run: RunFolder) -> None:
    """Without plays on record, levels, reasons, findings: as runs were written before."""
    (run.path / "plays.jsonl").unlink()
    with (run.path / "rounds.jsonl").open() as file:
        entries = [json.loads(line) for line in file]
    for one in entries:
        for each in one["environments"]:
            del each["level"], each["why"]
    (run.path / "rounds.jsonl").write_text("".join(json.dumps(one) + "\n" for one in entries))
    facts = read_run(run)
    for one, entry in zip(facts.rounds, entries, strict=True):
        mean = [each["success"] for each in entry["environments"]]
        assert one.plain.plays == 8 * len(mean)
        assert one.plain.rate == pytest.approx(sum(mean) / len(mean))
        assert {each.env_id for each in one.played if not each.chosen} == set(entry["admitted"])


def test_a_tail_knows_its_file_by_its_last_bytes(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"one\ntwo\n")
    tail = Tail(path)
    assert [line for _, line in tail.lines()] == [b"one\n", b"two\n"]
    path.write_bytes(b"one\ntwo\nthree\n")
    assert not tail.is_cut()
    assert list(tail.lines()) == [(8, b"three\n")]
    path.write_bytes(b"one\nTWO\nthree\nfour\n")
    assert tail.is_cut()
    assert tails._SEAM >= 16
