"""Registries that are broken in every way that was thought of, before the real commands: each says what is wrong, names
the file and the mend, ends with the right code, and goes on reading where it can.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from life import lived

DRIVER = """
import contextlib, io, json, os, sys, warnings
import spade_envs.cli as cli
from spade_envs.cli.app import _application, run
from spade_envs.registry import RegistryWarning, stack
from spade_envs.registry.examine import examine
import spade_envs.registry.overview, sqlalchemy.dialects.sqlite
_application([])
with contextlib.redirect_stderr(io.StringIO()):
    for name in ("list", "refused", "rebuild", "retire", "rollback"):  # loads what another user may not
        run([name, *{"retire": ["x", "--reason", "x"], "rollback": ["x", "0"]}.get(name, []), "--registry", "/none"])
if sys.argv[1] != "0":
    os.setuid(int(sys.argv[1]))
warnings.showwarning = cli._show
warnings.simplefilter("always", RegistryWarning)
for line in sys.stdin:
    os.environ["SPADE_REGISTRY"], *arguments = json.loads(line)
    stack._open.cache_clear()
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        if arguments == ["examine"]:
            code = print(json.dumps(examine()[1].as_dict()))
        else:
            code = run(arguments)
    print(json.dumps([code, out.getvalue(), err.getvalue()]), flush=True)
"""
READING = {
    "list": ["list", "--registry", "ROOT", "--json"],
    "search": ["search", "widget", "--json"],
    "show": ["show", "spade/Widget-v1", "--json"],
    "history": ["history", "spade/Widget-v1", "--json"],
    "lineage": ["lineage", "spade/Widget-v1", "--json"],
    "refused": ["refused", "--json"],
    "newest": ["show", "spade/Widget", "--json"],
}
WRITING = {
    "retire": ["retire", "spade/Widget-v1", "--reason", "a test"],
    "rollback": ["rollback", "run", "0"],
}
COMMANDS = {
    **READING,
    **WRITING,
    "before": ["examine"],
    "rebuild": ["rebuild"],
    "after": ["examine"],
    "again": READING["list"],
}
Answers = dict[str, tuple[int, str, str]]


def _records(change: Callable[[Path], object]) -> Callable[[Path], object]:
    return lambda root: change(root / "records.db")


def _newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()


def _half_a_copy(root: Path) -> None:
    (root / "Widget" / "v1.json").unlink()
    (root / "Gadget" / "v0.py").unlink()
    (root / "records.db").unlink()


def _without(path: Path, key: str) -> None:
    report = json.loads(path.read_text())
    del report[key]
    path.write_text(json.dumps(report))


def _odd_report(root: Path) -> None:
    path = root / "Widget" / "v1.json"
    odd = {
        "scores": "high",
        "gates": {},
        "run": 10**30,
        "round": 10**30,
        "active_pool": [],
        "provenance": "\ud800",
    }
    path.write_text(json.dumps({**json.loads(path.read_text()), **odd}))
    (root / "records.db").unlink()


def _folder_of_records(root: Path) -> None:
    (root / "records.db").unlink()
    (root / "records.db").mkdir()


def _file_of_registry(root: Path) -> None:
    shutil.rmtree(root)
    root.write_text("no folder")


DAMAGE: dict[str, Callable[[Path], object]] = {
    "garbage": _records(lambda path: path.write_bytes(b"no database, but long enough to be looked at" * 9)),
    "emptied": _records(lambda path: path.write_bytes(b"")),
    "cut off": _records(lambda path: path.write_bytes(path.read_bytes()[: 4096 * 5])),
    "newer": _records(_newer),
    "half a copy": _half_a_copy,
    "source": lambda root: (root / "Widget" / "v1.py").write_text("edited"),
    "bytes": lambda root: (root / "Widget" / "v1.py").write_bytes(b"\xff"),
    "deep": lambda root: (root / "Widget" / "v1.json").write_text('{"a": ' * 5000),
    "no code hash": lambda root: _without(root / "Widget" / "v1.json", "code_sha256"),
    "no hash": lambda root: _without(root / "Widget" / "v1.json", "file_sha256"),
    "odd report": _odd_report,
    "folder of records": _folder_of_records,
    "file of registry": _file_of_registry,
}


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder that other users may look into, as pytest's own is not, with a registry in it."""
    folder = Path("/tmp") / f"spade-bad-input-{os.getpid()}"
    folder.mkdir(mode=0o755)
    try:
        lived(folder / "sound").own_records.close()
        yield folder
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def answers(folder: Path) -> dict[str, Answers]:
    """What all commands answer where each damage was done: one process for all of them, which is what takes time."""
    for name, damage in DAMAGE.items():
        shutil.copytree(folder / "sound", folder / name)
        damage(folder / name)
    return asked([folder / name for name in DAMAGE])


def asked(roots: list[Path], uid: int = 0) -> dict[str, Answers]:
    lines = [
        json.dumps([str(root), *(word.replace("ROOT", str(root)) for word in words)])
        for root in roots
        for words in COMMANDS.values()
    ]
    paths = {"SPADE_REGISTRIES": "", "PYTHONPATH": str(Path(__file__).parents[2]), "COLUMNS": "200"}
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, str(uid)],
        input="\n".join(lines),
        env={**os.environ, **paths},
        capture_output=True,
        text=True,
        cwd="/tmp",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = iter(tuple(json.loads(line)) for line in done.stdout.splitlines())
    return {root.name: {name: next(told) for name in COMMANDS} for root in roots}  # type: ignore[misc]


def listed(answer: tuple[int, str, str]) -> list[str]:
    assert answer[0] == 0, answer[2]
    return [row["id"] for row in json.loads(answer[1])]


def all_read(answers: Answers) -> None:
    assert {name: answers[name][0] for name in READING} == dict.fromkeys(READING, 0)
    assert listed(answers["list"]) == ["spade/Gadget-v0", "spade/Widget-v1"]
    assert "spade/Widget-v1" in answers["search"][1]
    assert json.loads(answers["refused"][1])[0]["id"] == "spade/Refused-v0"


def refuse(answers: Answers, commands: tuple[str, ...], *says: str) -> None:
    for name in commands:
        code, _, err = answers[name]
        assert code == 2, (name, err)
        for text in says:
            assert text in err, name


def examined(answer: tuple[int, str, str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(answer[1])
    return found


@pytest.mark.parametrize("damage", ["garbage", "emptied", "cut off"])
def test_broken_records(answers: dict[str, Answers], folder: Path, damage: str) -> None:
    found, records = answers[damage], f"{folder / damage}/records.db"
    all_read(found)
    assert records in found["list"][2]
    assert "`spade-envs rebuild`. Until then only files are read" in found["list"][2]
    refuse(found, ("retire", "rollback"), records, "spade-envs rebuild")
    assert f"spade-envs rebuild --registry {folder / damage}" in examined(found["before"])["problems"][0]
    assert found["rebuild"][0] == 0
    assert "on record: 3 versions" in found["rebuild"][1]
    assert examined(found["after"])["problems"] == []
    assert found["again"][2] == ""


def test_records_of_a_newer_schema(answers: dict[str, Answers]) -> None:
    found = answers["newer"]
    all_read(found)
    assert "install a newer one" in found["list"][2]
    refuse(found, ("retire", "rollback"), "is of schema 9999", "install a newer one")
    code, _, err = found["rebuild"]
    assert code == 3
    assert "--force" in err
    shelf = examined(found["after"])
    assert (shelf["records"], shelf["recorded"]) == ("newer", None)
    assert "install a newer spade-envs" in shelf["problems"][0]


def test_half_a_copy(answers: dict[str, Answers], folder: Path) -> None:
    found, source = answers["half a copy"], f"{folder}/half a copy/Widget/v1.py"
    assert listed(found["list"]) == ["spade/Widget-v0"]
    assert f"skipped {source}: v1.json is missing; restore it" in found["list"][2]
    says = f"{source}: v1.json is missing; restore it, or admit the source again"
    refuse(found, ("show", "history", "lineage", "retire"), says)
    assert "their files are broken" in found["rebuild"][1]
    assert json.loads(found["newest"][1])["id"] == "spade/Widget-v0"


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        ("source", "its hash is not the one in v1.json; restore both"),
        ("bytes", "it cannot be read"),
        ("deep", "it cannot be read"),
        ("no code hash", "v1.json was changed: it has no code_sha256; restore it"),
        ("no hash", "its hash is not the one in v1.json"),
    ],
)
def test_files_that_were_edited(answers: dict[str, Answers], folder: Path, damage: str, says: str) -> None:
    found = answers[damage]
    assert listed(found["list"]) == ["spade/Gadget-v0", "spade/Widget-v1"]  # it is on record
    refuse(found, ("show", "history", "lineage", "retire"), f"{folder / damage}/Widget/v1.py: {says}")
    assert json.loads(found["newest"][1])["id"] == "spade/Widget-v0"
    assert "what is on record of them is kept: spade/Widget-v1" in found["rebuild"][1]
    assert examined(found["before"])["problems"] == examined(found["after"])["problems"] == []


def test_reports_that_were_edited_cost_no_more_than_what_was_changed(answers: dict[str, Answers]) -> None:
    found = answers["odd report"]
    all_read(found)
    assert json.loads(found["list"][1])[1]["difficulty"] is None
    assert found["list"][2] == ""


def test_other_things_in_their_places(answers: dict[str, Answers], folder: Path) -> None:
    found = answers["folder of records"]
    all_read(found)
    refuse(found, ("retire", "rollback", "rebuild"), f"{folder}/folder of records/records.db")
    found = answers["file of registry"]
    refuse(found, ("list", "refused", "rollback", "rebuild"), f"{folder}/file of registry is no folder")
    assert "is no folder; move it away" in examined(found["before"])["problems"][0]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs another user")
def test_folders_that_may_not_be_written(folder: Path) -> None:
    for name in ("closed", "closed and new"):
        shutil.copytree(folder / "sound", folder / name)
    (folder / "closed and new" / "records.db").unlink()
    roots = [folder / "closed", folder / "closed and new"]
    before = {path: path.read_bytes() for root in roots for path in root.rglob("*") if path.is_file()}
    answers = asked(roots, uid=65534)
    assert {path: path.read_bytes() for root in roots for path in root.rglob("*") if path.is_file()} == before
    for name, found in answers.items():
        all_read(found)
        assert found["list"][2] == ""
        refuse(found, ("retire", "rollback", "rebuild"), str(folder / name))
        shelf = examined(found["after"])
        assert shelf["writable"] is False
        assert "give leave or make room" in shelf["problems"][0]
    assert "records.db is read-only; give leave to write" in answers["closed"]["retire"][2]
