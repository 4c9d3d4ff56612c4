"""The command line: exit codes, JSON beside every table, and no traceback for a user's mistake."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from spade_envs import cli
from spade_envs.cli import judge as judging
from spade_envs.cli.app import COMMANDS
from spade_envs.registry import Registry, add_registry, stack

sys.path.insert(0, str(Path(__file__).parent / "admission"))
from designs import HONEST, flawed

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command in an empty folder with an empty user registry; returns exit code, stdout, stderr."""
    monkeypatch.setenv("SPADE_REGISTRY", str(tmp_path / "user"))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(stack, "_added", [])
    monkeypatch.chdir(tmp_path)

    def command(*arguments: object) -> tuple[int, str, str]:
        code = cli.run([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return code, out, err

    return command


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


def test_check_says_line_fault_and_mend(run: Run, tmp_path: Path) -> None:
    Path("broken.py").write_text(HONEST.replace('domain = "games"', 'domain = "fun"'))
    code, out, _ = run("check", "broken.py")
    assert code == 1
    assert "broken.py:5" in out
    assert '"games"' in out


def test_check_judges_several_files_and_admit_publishes(run: Run, tmp_path: Path) -> None:
    Path("good.py").write_text(HONEST.replace("LampHunt", "LampHuntShell"))
    Path("bad.py").write_text(flawed("runs.raised"))
    code, out, _ = run("admit", "good.py", "bad.py", "--registry", "shelf")
    assert code == 1
    assert "admitted" in out
    assert "as spade/LampHuntShell-v0" in out
    assert "[runs.raised]" in out
    assert "1 of 2 admitted" in out
    assert [str(i) for i in Registry(tmp_path / "shelf").ids()] == ["spade/LampHuntShell-v0"]

    code, out, _ = run("admit", "good.py", "--registry", "shelf", "--json")
    (again,) = json.loads(out)
    assert code == 1
    assert again["gates"][0]["saw"] == {"equals": "spade/LampHuntShell-v0"}
    assert again["registered_as"] is None


@pytest.mark.parametrize(
    ("name", "data", "code", "says"),
    [
        ("empty.py", b"", 1, "empty"),
        ("blank.py", b" \n\n", 1, "empty"),
        ("binary.py", bytes(range(256)), 1, "UTF-8"),
        ("large.py", b"#" * 10_000_000, 1, "65536 bytes"),
        ("plain.py", b"print(1)\n", 1, "header"),
        ("folder", None, 3, "is a folder"),
        ("missing.py", None, 3, "does not exist"),
    ],
)
def test_files_that_are_no_designs(run: Run, name: str, data: bytes | None, code: int, says: str) -> None:
    if data is not None:
        Path(name).write_bytes(data)
    elif name == "folder":
        Path(name).mkdir()
    got, out, err = run("check", name)
    assert got == code
    assert says in out + err


@pytest.mark.parametrize("data", [HONEST.replace("\n", "\r\n").encode(), b"\xef\xbb\xbf" + HONEST.encode()])
def test_windows_files_are_read(run: Run, data: bytes) -> None:
    Path("design.py").write_bytes(data)
    assert judging.read_design(Path("design.py")) == HONEST


@pytest.mark.parametrize(
    "arguments",
    [["check"], ["check", "--no-such", "x.py"], ["nonsense"], ["show"], ["play", "x", "--seed", "minus one"]],
)
def test_wrong_use_is_3(run: Run, arguments: list[str]) -> None:
    code, _, err = run(*arguments)
    assert code == 3
    assert err


def test_a_registry_that_cannot_be_written_is_2(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("good.py").write_text(HONEST)
    Path("file").write_text("not a folder")
    monkeypatch.setattr(judging, "admit_source", lambda source, registry: registry.add(source, {}))
    code, _, err = run("admit", "good.py", "--registry", "file")
    assert code == 2
    assert "cannot write LampHunt" in err

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    code, _, err = run("admit", "good.py", "--registry", "full")
    assert code == 2
    assert "No space left" in err


def test_control_c_stops_quietly(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(_: str) -> None:
        raise KeyboardInterrupt

    Path("good.py").write_text(HONEST)
    monkeypatch.setattr(judging, "judge_source", stopped)
    code, _, err = run("check", "good.py")
    assert code == 130
    assert err.strip() == "stopped"


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
