"""What is found wrong with a registry by looking at it, each with its mend; a look changes nothing."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
from life import lived

from spade_envs.isolation.doctor import Diagnosis
from spade_envs.registry import Registry, registries
from spade_envs.registry.examine import Examined, examine
from spade_envs.registry.rebuild import rebuild


def looked_at(root: Path) -> Examined:
    before = files(root)
    (found,) = examine([Registry(root)])
    assert files(root) == before
    return found


def files(root: Path) -> dict[Path, bytes]:
    """All but what SQLite puts beside a database that is open."""
    paths = (path for path in root.rglob("*") if path.is_file() and not path.name.endswith(("-shm", "-wal")))
    return {path: path.read_bytes() for path in paths}


def test_a_sound_registry_has_no_problems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lived(tmp_path / "own").own_records.close()
    found = looked_at(tmp_path / "own")
    assert (found.writable, found.files, found.recorded, found.records, found.problems) == (
        True,
        3,
        3,
        "sound",
        (),
    )
    monkeypatch.setenv("SPADE_REGISTRY", str(tmp_path / "none"))
    shipped, user = examine(registries()[:2])
    assert (shipped.writable, shipped.files, shipped.recorded, shipped.problems) == (None, 30, None, ())
    assert (user.writable, user.files, user.records, user.problems) == (True, 0, "missing", ())
    assert not (tmp_path / "none").exists()


def test_files_and_records_that_differ(tmp_path: Path) -> None:
    registry = lived(tmp_path / "own")
    registry.own_records.close()
    with closing(sqlite3.connect(tmp_path / "own" / "records.db")) as connection:
        connection.execute("DELETE FROM versions WHERE name = 'Gadget'")
        connection.commit()
    shutil.move(tmp_path / "own" / "Widget", tmp_path / "aside")
    new, gone = looked_at(tmp_path / "own").problems
    assert "1 versions are not on record, for example spade/Gadget-v0: `spade-envs rebuild --registry" in new
    assert "2 versions on record have no files, for example spade/Widget-v0: restore them, or" in gone
    rebuild(Registry(tmp_path / "own"))
    assert looked_at(tmp_path / "own").problems == ()


def test_a_disk_that_is_full_soon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=5 << 20))
    found = looked_at(tmp_path)
    assert found.problems == ("5 MiB of disk are free; make room, else nothing more can be admitted",)
    assert found.as_dict()["problems"] == list(found.problems)


def test_the_doctor_tells_it(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from spade_envs.cli import doctor

    monkeypatch.setattr(doctor, "diagnose", lambda: Diagnosis((), ()))
    lived(tmp_path / "user").own_records.close()
    code, out, _ = run("doctor")
    assert code == 0
    assert f"{tmp_path / 'user'}" in out
    shutil.rmtree(tmp_path / "user" / "Widget")
    code, out, _ = run("doctor")
    assert code == 2
    assert "2 versions on record have no files" in out
