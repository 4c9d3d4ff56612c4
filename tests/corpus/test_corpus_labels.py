"""Labels follow rules that can be read, and blind spots follow labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from spade_envs import registries
from spade_envs.contract import DOMAINS
from spade_train.cli import main
from spade_train.corpus import FEW, Corpus, Document, label
from spade_train.corpus.blind_spots import survey
from spade_train.corpus.labels import domains, skill_of, skills
from spade_train.runs.folder import RunFolder

PRIMES = Document(
    "Whoever factors an integer looks for its smallest prime first. A divisor that is no prime has a smaller one, so "
    "nothing is lost. The product of all primes that are found is the integer again.",
    "primes.txt",
)


def test_the_rules_know_every_domain_of_the_header() -> None:
    assert set(domains()) == set(DOMAINS)
    assert not set(domains()) & set(skills())


def test_the_rules_know_every_skill_of_the_seeds() -> None:
    tags = {tag for one in registries()[0].entries() for tag in one.header.skills}
    assert len(tags) > 40
    assert {tag for tag in tags if skill_of(tag) not in skills()} == set()


def test_a_label_says_which_words_led_to_it() -> None:
    found = label(PRIMES)
    assert found.domain == "math"
    assert "number theory" in found.skills
    assert set(found.because["number theory"]) >= {"prime", "divisor"}
    for name, because in found.because.items():
        rule = skills().get(name) or domains()[name]
        assert all(word in rule.words for word in because)


def test_one_word_is_not_enough_and_a_long_text_wants_more() -> None:
    one = Document("The prime minister spoke of many things. " * 9, "a")
    assert "number theory" not in label(one).skills
    two = "The prime divisor. "
    assert "number theory" in label(Document(two, "a")).skills
    assert "number theory" not in label(Document(two + "many other things here " * 400, "a")).skills


def test_a_module_tells_more_than_words() -> None:
    found = label(
        Document(PRIMES.text, "installed:networkx==3.4:networkx.algorithms.flow.maxflow.maximum_flow")
    )
    assert (found.domain, found.because["planning"]) == ("planning", ("networkx.algorithms.flow",))
    assert "optimisation" in found.skills
    assert label(Document(PRIMES.text, "installed:x==1:networkx_other.flow")).domain == "math"


def test_blind_spots_are_told_from_the_rest() -> None:
    corpus = Corpus.of([*(Document(PRIMES.text, f"p:{n}") for n in range(FEW)), Document("nothing", "n:1")])
    wanted = [("math", ("parity", "bee-keeping")), ("games", ("parity",))]
    spots = {one.name: one for one in survey(corpus, wanted, ["p:0", "p:0", "p:3"])}
    assert (spots["number theory"].documents, spots["number theory"].environments) == (FEW, 2)
    assert (spots["number theory"].drawn, spots["number theory"].blind) == (3, None)
    assert spots["bee keeping"].blind == "no document"
    assert spots["games"].blind == "no document"
    unseen = {one.name: one for one in survey(corpus, wanted, [])}
    assert unseen["number theory"].blind == "never drawn"
    assert {one.drawn for one in survey(corpus, wanted)} == {None}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    (tmp_path / "mine.jsonl").write_text(
        "\n".join(json.dumps({"text": f"{n}. {PRIMES.text}", "license": "MIT"}) for n in range(12)) + "\n{"
    )
    return tmp_path


def test_the_command_shows_sources_blind_spots_and_samples(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["corpus", "mine.jsonl=3", "shipped", "--show", "1", "--focus", "number theory"])
    out = capsys.readouterr().out
    assert "mine.jsonl:13: it is no JSON" in out
    assert "75%" in out
    assert "no document" in out
    assert "number theory: " in out


def test_the_command_tells_what_a_run_never_drew(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = RunFolder.create(files / "runs", "mine")
    run.write_config({"selfplay": {"corpus": ["mine.jsonl"]}})
    told = [{"piece": "document", "what": f"mine.jsonl:{n}", "why": ""} for n in (3, 5, 3)]
    run.append("contexts.jsonl", [{"round": n, "reasons": [one]} for n, one in enumerate(told)])
    main(["corpus", "--run", "runs/mine", "--json"])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert found["never_drawn"] == {"mine.jsonl": 10}
    assert [one["documents"] for one in found["sources"]] == [12]
    assert next(one["drawn"] for one in found["spots"] if one["name"] == "number theory") == 3
    main(["corpus", "--run", "runs/mine"])
    assert "10 documents were never drawn" in capsys.readouterr().out


def test_what_strangers_wrote_moves_no_cursor(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    odd = files / "odd\x1b[31m"
    odd.mkdir()
    (odd / "a.txt").write_text(f"\x1b[2J[bold] {PRIMES.text}")
    (odd / "b\x07.txt").write_bytes(b"\0")
    main(["corpus", str(odd), "--show", "1"])
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\x07" not in out
    assert "[bold]" in out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nowhere"], "nowhere: it is not there"),
        (["--run", "nowhere"], "nowhere"),
        (["--show", "x"], "invalid int"),
        (["shipped=-1"], "weight -1"),
    ],
)
def test_wrong_use_is_one_line(
    words: list[str], told: str, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(["corpus", *words])
    assert left.value.code == 2
    assert told in capsys.readouterr().err
