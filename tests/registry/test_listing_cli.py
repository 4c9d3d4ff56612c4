"""The commands list and search: filters, parts, orders, and what is said where nothing is found."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from life import admitted

from spade_envs.registry import Registry, shipped_registry
from spade_envs.registry.status import change

Run = Callable[..., tuple[int, str, str]]
MINE = ["spade/Gadget-v0", "spade/Widget-v1"]


def ids(answer: tuple[int, str, str]) -> list[str]:
    assert answer[0] == 0
    return [entry["id"] for entry in json.loads(answer[1])]


def test_filters_meet_all_registries(run: Run, user: Registry) -> None:
    assert ids(run("list", "--registry", "user", "--json")) == MINE
    assert ids(run("list", "--registry", "user", "--all", "--json")) == [MINE[0], "spade/Widget-v0", MINE[1]]
    assert ids(run("list", "--success", "0.5..0.5", "--json")) == [MINE[0], "spade/LampRow-v0", MINE[1]]
    assert ids(run("list", "--regret", "0.4..", "--name", "Widget", "--json")) == [MINE[1]]
    assert ids(run("list", "--regret", "..0.4", "--json")) == []
    assert ids(run("list", "--status", "retired", "--all", "--json")) == ["spade/Widget-v0"]
    assert ids(run("list", "--run", "run", "--round", 1, "--json")) == [MINE[1]]
    assert ids(run("list", "--skill", "testing", "--origin", "seed", "--domain", "games", "--json")) == MINE
    assert ids(run("list", "--name", "spade/Widget", "--json")) == [MINE[1]]
    shipped = len(ids(run("list", "--limit", 0, "--registry", shipped_registry(), "--json")))
    assert len(ids(run("list", "--limit", 0, "--json"))) == shipped + 2


def test_a_row_says_all_that_is_on_record(run: Run, user: Registry) -> None:
    (lamp,) = json.loads(run("list", "--name", "LampRow", "--json")[1])
    assert (lamp["status"], lamp["plays"], lamp["regret"], lamp["success"]) == ("active", 8, 0.5, 0.5)
    assert Path(lamp["path"]).read_text() == (shipped_registry() / "LampRow" / "v0.py").read_text()
    assert lamp["registry"] == str(shipped_registry())
    assert lamp["skills"]


def test_parts_are_counted(run: Run, user: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    everything = ids(run("list", "--limit", 0, "--json"))
    parts = [ids(run("list", "--limit", 10, "--page", page, "--json")) for page in (1, 2, 3, 4)]
    assert [one for part in parts for one in part] == everything
    assert ids(run("list", "--limit", 10, "--offset", 7, "--json")) == everything[7:17]
    _, out, err = run("list", "--limit", 3)
    assert [line.split("\t")[0] for line in out.splitlines()] == everything[:3]
    assert err == f"3 of {len(everything)} environments; --offset 3 for the next, --limit 0 for all\n"
    _, out, err = run("list", "--offset", 1000)
    assert (out, err) == (
        "",
        f"there are {len(everything)}, none from 1,000 on; take a lower --offset or --page\n",
    )
    monkeypatch.setenv("FORCE_COLOR", "1")
    _, out, err = run("list", "--registry", "user", "--sort", "regret")
    assert err == ""
    assert "\x1b[32mactive" in out
    assert out.rstrip().endswith("2 environments")
    assert "0.50" in out
    assert run("list", "--name", "Gadget")[1].rstrip().endswith("1 environment")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[3" not in run("list")[1]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--domain", "gmaes"], "there is no domain 'gmaes'; did you mean games?"),
        (["--status", "retird"], "there is no status 'retird'; did you mean retired?"),
        (["--sort", "dificulty"], "did you mean difficulty?"),
        (["--origin", "thin air"], "there are seed, generated"),
        (["--regret", "high"], "--regret high is no range; write A..B"),
        (["--regret", ".."], "is no range"),
        (["--success", "0.9..0.1"], "write the lower end first"),
        (["--offset", "3", "--page", "2"], "leave one out"),
        (["--limit", "0", "--page", "2"], "leave out --page, or give a limit"),
        (["--registry", "usr"], "there is no registry"),
        (["--sort", "rank"], "only words that are searched for give a rank"),
    ],
)
def test_questions_that_cannot_be_are_wrong_use(run: Run, options: list[str], says: str) -> None:
    code, out, err = run("list", *options)
    assert (code, out) == (3, "")
    assert says in err


@pytest.mark.parametrize(
    ("question", "says"),
    [
        (["list", "--skill", "tseting"], "no environment has the skill 'tseting'; did you mean testing?"),
        (["list", "--run", "rnu"], "no environment has the run 'rnu'; did you mean run?"),
        (["list", "--name", "Wigdet"], "no environment has the name 'Wigdet'; did you mean Widget?"),
        (["list", "--name", "\udcff"], r"no environment has the name '\udcff'"),
        (["list", "--domain", "code", "--regret", "7.."], "leave out --domain or --regret, or add --all"),
        (["list", "--name", "Gadget", "--status", "retired", "--all"], "leave out --status or --name\n"),
        (["search", "qqqq"], "no environment holds all these words"),
        (["search", '"', "-"], "no environment holds all these words"),
    ],
)
def test_where_nothing_is_found_it_is_said_how_to_ask_for_more(
    run: Run, user: Registry, question: list[str], says: str
) -> None:
    code, out, err = run(*question)
    assert (code, out) == (0, "")
    assert says in err
    assert run(*question, "--json")[:2] == (0, "[]\n")


def test_an_empty_registry_says_how_to_begin(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert run("list", "--registry", "empty")[2].startswith(
        "there are no environments; `spade-envs admit FILE`"
    )
    assert list((tmp_path / "empty").iterdir()) == []  # a look leaves nothing behind


def test_search_finds_words_and_their_beginnings(run: Run, user: Registry) -> None:
    assert ids(run("search", "widget", "--json")) == [MINE[1], MINE[0]]  # in a name, then in the rules
    assert ids(run("search", "lamp", "ro", "--json"))[0] == "spade/LampRow-v0"
    assert ids(run("search", "widg", "--all", "--registry", "user", "--json"))[2] == MINE[0]
    change(MINE[:1], "retired", "why not", user)
    assert ids(run("search", "turn widget", "--status", "retired", "--json")) == MINE[:1]
    assert len(ids(run("search", "the", "--limit", 2, "--page", 2, "--json"))) == 2
    code, _, err = run("search", " ")
    assert code == 3
    assert "no words to search for" in err


def test_what_a_stranger_wrote_is_shown_and_not_obeyed(run: Run, tmp_path: Path) -> None:
    registry = Registry(tmp_path / "user")
    admitted(registry, run="\x1b[2J", provenance={"designer": "\x1b[31m[red]me[/red]"})
    for command in (
        ["list", "--run", "\x1b[2J"],
        ["show", "spade/Widget-v0"],
        ["history", "spade/Widget-v0"],
    ):
        for form in ([], ["--json"]):
            code, out, err = run(*command, *form)
            assert code == 0
            assert "\x1b" not in out + err
    assert "[red]me[/red]" in run("show", "spade/Widget-v0")[1]
