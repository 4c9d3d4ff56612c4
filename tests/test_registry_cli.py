"""The command line: exit codes, JSON beside every table, and no traceback for a user's mistake."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from designs import HONEST

from spade_envs.cli.app import COMMANDS
from spade_envs.registry import Registry, add_registry

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def shelf(run: Run, tmp_path: Path) -> Registry:
    """Two environments, one of them in two versions, in the user's registry."""
    registry = Registry(tmp_path / "user")
    report = {"gates": [{"name": "form", "passed": True, "saw": {"rules": "Find the lamp."}}]}
    for text in (
        HONEST,
        HONEST + "# changed\n",
        HONEST.replace("LampHunt", "OreHunt").replace("games", "science"),
    ):
        registry.add(text, report)
    return registry


def mine(text: str) -> list[str]:
    return [
        entry["id"]
        for entry in json.loads(text)
        if entry["id"].endswith(("LampHunt-v0", "Hunt-v1", "OreHunt-v0"))
    ]


def test_list_shows_the_newest_and_filters(run: Run, shelf: Registry) -> None:
    code, out, _ = run("list", "--json")
    assert code == 0
    assert mine(out) == ["spade/LampHunt-v1", "spade/OreHunt-v0"]
    assert mine(run("list", "--all", "--json")[1]) == [
        "spade/LampHunt-v0",
        "spade/LampHunt-v1",
        "spade/OreHunt-v0",
    ]
    assert mine(run("list", "--domain", "science", "--json")[1]) == ["spade/OreHunt-v0"]
    assert mine(run("list", "--skill", "none-such", "--json")[1]) == []
    _, table, _ = run("list")
    assert "spade/LampHunt-v1" in table
    assert "Lamp hunt" in table


def test_show_and_source(run: Run, shelf: Registry) -> None:
    code, out, _ = run("show", "spade/LampHunt")
    assert code == 0
    assert "spade/LampHunt-v1" in out
    assert "Find the lamp." in out
    shown = json.loads(run("show", "spade/LampHunt-v0", "--json")[1])
    assert shown["id"] == "spade/LampHunt-v0"
    assert shown["report"]["gates"][0]["name"] == "form"
    assert run("source", "spade/LampHunt-v0")[1] == HONEST


@pytest.mark.parametrize("command", ["show", "source", "play"])
def test_an_unknown_id_names_the_near_matches(run: Run, shelf: Registry, command: str) -> None:
    code, _, err = run(command, "spade/lamp_hunt-v1")
    assert code == 3
    assert "did you mean spade/LampHunt-v1" in err


@pytest.mark.parametrize(
    "arguments",
    [["check"], ["check", "--no-such", "x.py"], ["nonsense"], ["show"], ["play", "x", "--seed", "minus one"]],
)
def test_wrong_use_is_3(run: Run, arguments: list[str]) -> None:
    code, _, err = run(*arguments)
    assert code == 3
    assert err


def test_help_has_examples_for_every_command(run: Run) -> None:
    code, out, _ = run("--help")
    assert code == 0
    assert "0 admitted" in out
    for name in COMMANDS:
        code, out, _ = run(name, "--help")
        assert code == 0
        assert f"spade-envs {name}" in out


def test_colours_can_be_turned_off_and_pipes_can_close(shelf: Registry, tmp_path: Path) -> None:
    environment = {**os.environ, "NO_COLOR": "1", "FORCE_COLOR": "1"}
    script = f"{sys.executable} -m spade_envs.cli list --all | head -1"
    done = subprocess.run(
        script, shell=True, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stderr == ""
    assert "\x1b[3" not in done.stdout


def test_a_person_plays(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = HONEST.replace("LampHunt", "LampHuntPlayed")
    registry = Registry(tmp_path / "user")
    registry.add(source, {})
    add_registry(tmp_path / "user")
    typed = iter(["30", "hint", "nonsense", *map(str, range(60))])
    monkeypatch.setattr("builtins.input", lambda _: next(typed))
    code, out, _ = run("play", "spade/LampHuntPlayed-v0", "--seed", "1", "--difficulty", "1")
    assert code == 0
    assert "One lamp of a row is lit" in out
    assert "Halve what is left." in out
    assert "return" in out


def test_play_can_be_left_and_refuses_a_level_that_is_not_there(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Registry(tmp_path / "user").add(HONEST.replace("LampHunt", "LampHuntLeft"), {})
    add_registry(tmp_path / "user")

    def closed(_: str) -> str:
        raise EOFError

    monkeypatch.setattr("builtins.input", closed)
    assert "You left." in run("play", "spade/LampHuntLeft-v0")[1]
    code, _, err = run("play", "spade/LampHuntLeft-v0", "--difficulty", "3")
    assert code == 3
    assert "2 difficulty levels" in err
