"""Out: the four formats hold what the registry holds, byte for byte, and take their place whole or not at all."""

from __future__ import annotations

import errno
import json
import os
import time
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from parcels import entry, family, ids, source

from spade_envs.contract.ids import EnvId
from spade_envs.errors import RegistryError, UnknownEnvironment, UsageError
from spade_envs.registry import Registry, RegistryWarning, add_registry
from spade_envs.transfer import arrivals, chosen, export, lines, placing

Run = Callable[..., tuple[int, str, str]]
NAMES = {
    "folder": "pool",
    "zip": "pool.zip",
    "wheel": "pool_envs-1.0-py3-none-any.whl",
    "jsonl": "pool.jsonl",
}


def tree(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.fixture
def shelf(tmp_path: Path) -> Registry:
    return family(tmp_path / "shelf")


def test_a_folder_is_a_registry(shelf: Registry, tmp_path: Path) -> None:
    assert export(tmp_path / "pool", chosen(registry=shelf)) == "folder"
    own = {name: data for name, data in tree(shelf.root).items() if "/" in name}
    assert tree(tmp_path / "pool") == own
    assert ids(Registry(tmp_path / "pool")) == ids(shelf)


@pytest.mark.parametrize("form", [form for form in NAMES if form != "folder"])
def test_the_same_versions_give_the_same_bytes(
    shelf: Registry, tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = chosen(registry=shelf)
    assert export(tmp_path / NAMES[form], versions) == form
    first = (tmp_path / NAMES[form]).read_bytes()
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    monkeypatch.setattr(time, "time", lambda: 2_000_000_000.0)
    old = os.umask(0)
    try:
        (tmp_path / "later").mkdir()
        export(tmp_path / "later" / NAMES[form], versions)
    finally:
        os.umask(old)
        monkeypatch.undo()
        time.tzset()
    assert (tmp_path / "later" / NAMES[form]).read_bytes() == first
    assert (tmp_path / NAMES[form]).stat().st_mode & 0o777 == 0o644


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
versions = st.dictionaries(
    st.builds(EnvId, st.from_regex(r"[A-Z][a-z]{0,3}", fullmatch=True), st.integers(0, 12)),
    texts,
    min_size=1,
    max_size=6,
)


@pytest.mark.parametrize("form", list(NAMES))
@given(drawn=versions)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_goes_out_comes_in(tmp_path: Path, form: str, drawn: dict[EnvId, str]) -> None:
    written = {str(env_id): source(str(env_id), text) for env_id, text in drawn.items()}
    target = tmp_path / NAMES[form]
    export(target, [entry(text) for text in written.values()], force=True)
    assert {str(arrival.source) for arrival in arrivals(target)} == set(written.values())


def test_a_zip_holds_the_folder_and_nothing_else(shelf: Registry, tmp_path: Path) -> None:
    export(tmp_path / "pool.zip", chosen(["spade/Leaf", "spade/Root-v0", "spade/Leaf-v1"], shelf))
    with zipfile.ZipFile(tmp_path / "pool.zip") as archive:
        assert archive.namelist() == ["Leaf/v1.json", "Leaf/v1.py", "Root/v0.json", "Root/v0.py"]
        archive.extractall(tmp_path / "unzipped")
    assert ids(Registry(tmp_path / "unzipped")) == ["spade/Leaf-v1", "spade/Root-v0"]


def test_a_data_set_has_one_line_a_version(shelf: Registry, tmp_path: Path) -> None:
    export(tmp_path / "pool.jsonl", chosen(registry=shelf))
    rows = [json.loads(line) for line in (tmp_path / "pool.jsonl").read_text().splitlines()]
    assert [row["id"] for row in rows] == ids(shelf)
    first = rows[0]
    assert (first["parent"], first["skills"], first["difficulty_levels"]) == (
        "spade/Middle-v0",
        ["testing", "waiting"],
        0,
    )
    assert first["source"] == shelf.source(EnvId("Leaf", 0))
    assert json.loads(first["report"]) == shelf.report(EnvId("Leaf", 0))
    assert first["file_sha256"] == json.loads(first["report"])["file_sha256"]


def test_a_data_set_loads_where_a_column_begins_empty(tmp_path: Path) -> None:
    """Readers settle a column's type on its first part: 10 MB by default, here a little."""
    datasets = pytest.importorskip("datasets")
    bare = (
        source("spade/Bare-v0")
        .replace('origin = "generated"', 'origin = "seed"')
        .replace("# generation_round = 3\n", "")
    )
    full = source("spade/Full-v0", parent="spade/Bare-v0").replace(
        "# license", "# difficulty_levels = 2\n# license"
    )
    export(tmp_path / "pool.jsonl", [entry(bare), entry(full)])
    datasets.disable_progress_bars()
    loaded = datasets.load_dataset(
        "json",
        data_files=str(tmp_path / "pool.jsonl"),
        cache_dir=str(tmp_path / "cache"),
        chunksize=1024,
        split="train",
    )
    assert loaded["id"][:] == ["spade/Bare-v0", "spade/Full-v0"]
    assert loaded["parent"][:] == ["", "spade/Bare-v0"]
    assert loaded["generation_round"][:] == [-1, 3]
    assert loaded["difficulty_levels"][:] == [0, 2]
    assert loaded["source"][0] == bare


@pytest.mark.parametrize("form", list(NAMES))
def test_nothing_is_overwritten_unasked(shelf: Registry, tmp_path: Path, form: str) -> None:
    target = tmp_path / NAMES[form]
    export(target, chosen(registry=shelf))
    before = tree(tmp_path)
    with pytest.raises(UsageError, match=r"is there already; .*--force"):
        export(target, chosen(["spade/Root"], shelf))
    assert tree(tmp_path) == before
    export(target, chosen(["spade/Root"], shelf), force=True)
    assert len(arrivals(target)) == 1
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_a_folder_of_something_else_is_never_overwritten(shelf: Registry, tmp_path: Path) -> None:
    versions = chosen(registry=shelf)
    export(tmp_path / "pool", versions)
    for stray in ("notes.txt", "Leaf/thoughts.md", "Leaf/v1.txt"):
        (tmp_path / "pool" / stray).write_text("mine")
        with pytest.raises(UsageError, match=f"holds more than versions .{stray}"):
            export(tmp_path / "pool", versions, force=True)
        assert (tmp_path / "pool" / stray).read_text() == "mine"
        (tmp_path / "pool" / stray).unlink()
    (tmp_path / "empty").mkdir()
    export(tmp_path / "empty", versions)
    assert ids(Registry(tmp_path / "empty")) == ids(shelf)


@pytest.mark.parametrize("name", [".", "Leaf", "pool.zip", ".."])
def test_a_registry_is_no_place_for_an_export(shelf: Registry, name: str, tmp_path: Path) -> None:
    before = tree(tmp_path)
    with pytest.raises(UsageError, match="lie in each other"):
        export(shelf.root / name, chosen(registry=shelf), force=True)
    assert tree(tmp_path) == before


def test_there_is_somewhere_to_lie_and_something_to_write(shelf: Registry, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not exist; make it first"):
        export(tmp_path / "no" / "pool.zip", chosen(registry=shelf))
    with pytest.raises(UsageError, match="no version to export"):
        export(tmp_path / "pool.zip", [])


@pytest.mark.parametrize("form", list(NAMES))
@pytest.mark.parametrize("stop", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_what_is_stopped_leaves_nothing(
    shelf: Registry, tmp_path: Path, form: str, stop: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped where all is written and is to take its place, an earlier export stays as it was."""

    def stopped(*_: Any) -> None:
        raise stop

    (tmp_path / "there").mkdir()
    export(tmp_path / "there" / NAMES[form], chosen(["spade/Root"], shelf))
    before = tree(tmp_path)
    for name in ("fsync", "sync", "replace", "rename"):
        monkeypatch.setattr(placing.os, name, stopped)
    expected = RegistryError if isinstance(stop, OSError) else KeyboardInterrupt
    for target in (tmp_path / NAMES[form], tmp_path / "there" / NAMES[form]):
        with pytest.raises(expected, match="No space left" if isinstance(stop, OSError) else None):
            export(target, chosen(registry=shelf), force=True)
    assert tree(tmp_path) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["shelf", "there"]


@pytest.mark.parametrize("form", list(NAMES))
def test_what_takes_its_place_is_on_disk(
    shelf: Registry, tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before it has its name: else a crash would leave the name of an empty file."""
    calls: list[str] = []

    def noted(name: str) -> Callable[..., Any]:
        real = getattr(os, name)
        return lambda *arguments: (calls.append(name), real(*arguments))[1]

    for name in ("fsync", "sync", "link", "replace", "rename"):
        monkeypatch.setattr(os, name, noted(name))
    export(tmp_path / NAMES[form], chosen(registry=shelf))
    assert calls == (["sync", "rename"] if form == "folder" else ["fsync", "link"])
    calls.clear()
    export(tmp_path / NAMES[form], chosen(registry=shelf), force=True)
    assert calls == (["sync", "rename", "rename"] if form == "folder" else ["fsync", "replace"])
    assert (tmp_path / NAMES[form]).stat().st_mode & 0o777 == (0o755 if form == "folder" else 0o644)


def test_a_folder_that_cannot_take_its_place_leaves_the_old_one(
    shelf: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export(tmp_path / "pool", chosen(["spade/Root"], shelf))
    before = tree(tmp_path)
    real, calls = os.rename, iter(range(9))

    def rename(old: Any, new: Any) -> None:
        if next(calls) == 1:  # the old one is aside, the new one shall come
            raise OSError(errno.EIO, "Input/output error")
        real(old, new)

    monkeypatch.setattr(placing.os, "rename", rename)
    with pytest.raises(RegistryError, match="Input/output error"):
        export(tmp_path / "pool", chosen(registry=shelf), force=True)
    assert tree(tmp_path) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pool", "shelf"]


@pytest.mark.parametrize("form", list(NAMES))
def test_a_disk_that_is_really_full(shelf: Registry, tmp_path: Path, form: str) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.geteuid() != 0 or os.system(f"mount -t tmpfs -o size=64k none {disk} 2>/dev/null"):
        pytest.skip("no small disk can be mounted here")
    try:
        large = [entry(source(f"spade/Large-v{k}", "x" * 50_000)) for k in range(3)]
        with pytest.raises(RegistryError, match="No space left on device; make room"):
            export(disk / NAMES[form], large)
        assert list(disk.iterdir()) == []
        export(disk / NAMES[form], chosen(["spade/Root"], shelf))
    finally:
        os.system(f"umount {disk}")


def test_a_disk_without_links(shelf: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def link(*_: Any) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)
    export(tmp_path / "pool.zip", chosen(registry=shelf))
    assert len(arrivals(tmp_path / "pool.zip")) == 4
    with pytest.raises(UsageError, match="is there already"):
        export(tmp_path / "pool.zip", chosen(registry=shelf))


def test_what_is_chosen(shelf: Registry, tmp_path: Path) -> None:
    add_registry(shelf.root)
    assert [str(one.header.id) for one in chosen(["spade/Leaf", "spade/Leaf-v1", "spade/Middle-v0"])] == [
        "spade/Leaf-v1",
        "spade/Middle-v0",
    ]
    every = {str(one.header.id) for one in chosen()}
    assert set(ids(shelf)) < every
    assert "spade/LampRow-v0" in every
    for registry in (None, shelf):
        with pytest.raises(UnknownEnvironment, match="did you mean spade/Middle-v0"):
            chosen(["spade/Midle-v0"], registry)


def test_an_id_that_is_two_files_is_left_out(shelf: Registry, tmp_path: Path) -> None:
    other = Registry(tmp_path / "other")
    other.add(source("spade/Root-v0", "another"), {})
    for registry in (shelf, other):
        add_registry(registry.root)
    with pytest.warns(
        RegistryWarning, match=r"left out: spade/Root-v0 is .*other/.* and, another file, .*shelf/"
    ):
        every = {str(one.header.id) for one in chosen()}
    assert "spade/Middle-v0" in every
    assert "spade/Root-v0" not in every


def test_a_broken_version_is_named_and_left_out(shelf: Registry, tmp_path: Path) -> None:
    (shelf.root / "Leaf" / "v0.py").write_text("cut off")
    with pytest.warns(RegistryWarning, match=r"skipped .*Leaf/v0\.py"):
        export(tmp_path / "pool", chosen(registry=Registry(shelf.root)))
    with warnings.catch_warnings():
        assert ids(Registry(tmp_path / "pool")) == ["spade/Leaf-v1", "spade/Middle-v0", "spade/Root-v0"]


def test_the_command(run: Run, tmp_path: Path) -> None:
    family(tmp_path / "shelf")
    code, out, _ = run("export", "pool.zip", "spade/Root", "--registry", "shelf")
    assert (code, out) == (0, "1 versions written to pool.zip (zip)\n")
    code, _, err = run("export", "pool.zip", "--registry", "shelf")
    assert code == 3
    assert "--force" in err
    assert run("export", "pool.zip", "--registry", "shelf", "--force", "--format", "jsonl")[0] == 0
    assert len(list(lines.read(Path("pool.zip")))) == 4
    assert run("export", "other", "--format", "nonsense")[0] == 3
    assert "shelv does not exist" in run("export", "other", "--registry", "shelv")[2]
    code, _, err = run("export", "other", "spade/lamp_row-v0")
    assert code == 3
    assert "did you mean spade/LampRow-v0" in err
