"""What the command writes, and what becomes of its work where nobody reads it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from designs import HONEST
from rich.table import Table

from spade_envs.admission import GateResult, Report, many
from spade_envs.cli import output
from spade_envs.contract import Finding, code_sha256
from spade_envs.contract.printable import printable, printable_json
from spade_envs.registry import Registry, RegistryWarning

Run = Callable[..., tuple[int, str, str]]
EVIL = "\x1b[31m\x9b1m\n\r\u202e\udcff\x07"
SHOWN = r"\x1b[31m\x9b1m\n\r\u202e\udcff\x07"


def unheard(*arguments: str, both: bool = False) -> tuple[int, str]:
    """Run the command with an output whose reader has gone, and return its exit code and its errors."""
    ours, theirs = os.pipe()
    os.close(ours)
    process = subprocess.Popen(
        [sys.executable, "-m", "spade_envs.cli", *arguments],
        stdout=theirs,
        stderr=theirs if both else subprocess.PIPE,
        text=True,
    )
    os.close(theirs)
    _, err = process.communicate(timeout=120)
    return process.returncode, err or ""


@pytest.fixture
def files(run: Run, tmp_path: Path) -> list[str]:
    """Two files that are refused without play."""
    names = ["a.py", "b.py"]
    for name in names:
        Path(name).write_text(HONEST.replace('domain = "games"', f'domain = "{name}"') + f"# {name}\n")
    return names


READING = [
    "list",
    "list --json",
    "show spade/LampHunt-v0",
    "refused --json",
    "doctor",
    "source spade/LampHunt",
]


@pytest.mark.parametrize("words", READING)
def test_reading_commands_end_quietly_where_nobody_reads(run: Run, tmp_path: Path, words: str) -> None:
    Registry(tmp_path / "user").add(HONEST, {})
    assert unheard(*words.split()) == (141, "")


@pytest.mark.parametrize("options", [pytest.param(["--json"], marks=pytest.mark.soak), []])
def test_check_stops_with_a_word_where_nobody_reads(files: list[str], options: list[str]) -> None:
    assert unheard("check", *files, *options) == (141, "nobody reads the output any more: stopped\n")


@pytest.mark.parametrize("options", [["--json"], pytest.param([], marks=pytest.mark.soak)])
def test_admit_does_its_work_where_nobody_reads(files: list[str], tmp_path: Path, options: list[str]) -> None:
    said = "nobody reads the output any more: the rest is judged and written all the same\n"
    assert unheard("admit", *files, *options) == (1, said)
    assert len(list((tmp_path / "user" / "refused").glob("*.json"))) == 2


@pytest.mark.soak
def test_admit_does_its_work_where_nobody_reads_errors_either(files: list[str], tmp_path: Path) -> None:
    assert unheard("admit", *files, both=True)[0] == 1
    assert len(list((tmp_path / "user" / "refused").glob("*.json"))) == 2


@pytest.mark.soak
def test_admit_does_its_work_where_the_output_finds_no_room(files: list[str], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "spade_envs.cli", "admit", *files, "--json"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=120
        )
    assert (done.returncode, done.stderr) == (2, "spade-envs: the output: No space left on device\n")
    assert len(list((tmp_path / "user" / "refused").glob("*.json"))) == 2


@pytest.mark.parametrize("closed", [">&- 2>&-", pytest.param("<&- >&-", marks=pytest.mark.soak)])
def test_a_stream_may_be_closed_from_the_beginning(files: list[str], closed: str) -> None:
    script = f"{sys.executable} -m spade_envs.cli check {' '.join(files)} {closed}"
    done = subprocess.run(script, shell=True, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (1, "")


def test_text_is_made_printable_and_json_stays_what_it_was() -> None:
    assert printable(EVIL) == SHOWN
    assert printable("é 日本 \xa0😀") == "é 日本 \xa0😀"
    assert printable("a\tb\n", keep="\n\t") == "a\tb\n"
    data = {EVIL: [EVIL, "é", "\U000e0001"]}
    text = printable_json(data, indent=1)
    assert json.loads(text) == data
    assert text.replace("\n", "").isprintable()
    assert "é" in text


def test_a_console_takes_no_text_for_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("a", box=None)
    table.add_row("x\x1b[2J")
    output.out().print(table, "y\x1b[2J", ":smile:")
    output.err().print("z\x9b2J")
    output.remark("w\x1b[2J")
    out, err = capsys.readouterr()
    assert "\x1b" not in out
    assert "x\\x1b[2J" in out
    assert "y\\x1b[2J :smile:" in out
    assert err == "z\\x9b2J\nw\\x1b[2J\n"


def nothing_evil(*texts: str) -> None:
    for text in texts:
        assert not set(text) & {"\x1b", "\x9b", "\r", "\u202e", "\x07", "\udcff"}


def test_names_of_files_are_shown_and_not_obeyed(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"{EVIL}.py"
    findings = (Finding("made.up", f"it says {EVIL}", f"Leave out {EVIL}."),)

    def judge(source: str, **_: Any) -> Report:
        return Report("spade/LampHunt-v0", code_sha256(source), (GateResult("x", False, {}, findings),), 0.0)

    monkeypatch.setattr(many, "judge", judge)
    Path(name).write_text(HONEST)
    _, out, err = run("admit", name, "--registry", EVIL)
    nothing_evil(out, err)
    assert out.splitlines()[0].startswith(f"{SHOWN}.py: ")
    assert [line for line in out.splitlines() if "it says" in line] == [
        f"{SHOWN}.py: it says {SHOWN} [made.up]"
    ]
    _, table, err = run("refused", "--registry", EVIL)
    nothing_evil(table, err)
    assert "1 of 1 refused" in table


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", EVIL],
        ["check", "."],
        ["check", f"--{EVIL}"],
        [EVIL],
        ["list", "--domain", EVIL],
        ["show", EVIL],
        ["play", "spade/LampRow", "--seed", EVIL],
        ["check", "good.py", "--registry", EVIL],
        ["refused", "--registry", EVIL],
    ],
)
def test_arguments_are_shown_and_not_obeyed(run: Run, arguments: list[str]) -> None:
    Path("good.py").write_text(HONEST)
    Path(EVIL).write_text("no folder, no design")
    Path(f"{EVIL}.d").mkdir()
    code, out, err = run(*arguments)
    assert code in (1, 2, 3)
    nothing_evil(out, err)


def test_what_a_registry_holds_is_shown_and_not_obeyed(run: Run, tmp_path: Path) -> None:
    report = {"gates": [{"name": "form", "saw": {"rules": EVIL}}, {"name": EVIL, "saw": {EVIL: EVIL}}]}
    registry = Registry(tmp_path / "user")
    registry.add(HONEST, report)
    for options in ([], ["--json"]):
        code, out, err = run("show", "spade/LampHunt", *options)
        assert code == 0
        nothing_evil(out, err)
    (tmp_path / EVIL / "Widget").mkdir(parents=True)
    (tmp_path / EVIL / "Widget" / "v0.py").write_text("x")
    with pytest.warns(RegistryWarning) as warned:
        Registry(tmp_path / EVIL).ids()
    nothing_evil(str(warned[0].message))
    assert "\n" not in str(warned[0].message)
