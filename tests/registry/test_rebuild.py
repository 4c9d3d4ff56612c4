"""Records made anew: what files say comes back whole, what only the old records knew as far as it can be read."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import time
import warnings
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import gymnasium
import pytest
from life import admitted, lived
from test_store import source

from spade_envs.errors import RegistryError, UsageError
from spade_envs.records import Choice, Query, changes, reading
from spade_envs.registry import Registry, RegistryWarning, add_registry, stack
from spade_envs.registry import rebuild as anew
from spade_envs.registry.overview import known
from spade_envs.registry.rebuild import Rebuilt, rebuild
from spade_envs.registry.status import change

OTHER = "spade/Sprocket-v0"


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Registry:
    """A registry in which things happened, to a version of another registry, too."""
    monkeypatch.setenv("SPADE_REGISTRY", str(tmp_path / "user"))
    monkeypatch.setenv(stack.ADDED, str(tmp_path / "other"))
    admitted(Registry(tmp_path / "other"), "Sprocket")
    registry = lived(tmp_path / "own", OTHER)
    registry.own_records.close()
    return registry


def all_of(registry: Registry) -> dict[str, Any]:
    """Everything on record but the keys."""
    with Registry(registry.root).records.reading() as connection:
        listed = reading.listed(connection, Query(all_versions=True))
        return {
            "versions": listed,
            "held": sorted(reading.held(connection)),
            "newest": [one.id for one in reading.listed(connection, Query())],
            "statuses": [reading.statuses(connection, one.id) for one in listed],
            "measurements": [reading.measurements(connection, one.id) for one in listed],
            "choices": [reading.choices(connection, one.id) for one in listed],
            "refusals": reading.refusals(connection),
            "found": [one.id for one in reading.listed(connection, Query(text="widget turn"))],
        }


def file(registry: Registry) -> Path:
    return registry.root / "records.db"


def sql(registry: Registry, *statements: str) -> None:
    with closing(sqlite3.connect(file(registry))) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def test_sound_records_come_back_as_they_were(registry: Registry) -> None:
    before, inode = all_of(registry), file(registry).stat().st_ino
    done = rebuild(registry)
    assert all_of(registry) == before
    assert file(registry).stat().st_ino == inode  # who has the file open goes on with it
    assert (done.found, done.versions, done.entered, done.gone, done.lost) == ("sound", 3, (), (), {})
    assert done.salvaged == {"others": 1, "statuses": 2, "measurements": 12, "choices": 12}
    assert {path.name for path in registry.root.iterdir()} <= {
        *(".lock", "records.db", "records.db-shm", "records.db-wal", "refused", "Gadget", "Widget")
    }
    assert rebuild(registry) == done


def test_what_was_deleted_and_copied_by_hand_is_put_right(registry: Registry, tmp_path: Path) -> None:
    sql(registry, "DELETE FROM versions WHERE name = 'Gadget'", "DELETE FROM refusals", "DELETE FROM skills")
    admitted(Registry(tmp_path / "third"), "Cog")
    shutil.copytree(tmp_path / "third" / "Cog", registry.root / "Cog")
    done = rebuild(registry)
    assert done.entered == ("spade/Cog-v0", "spade/Gadget-v0")
    found = all_of(registry)
    assert [one.id for one in found["versions"]][:2] == ["spade/Cog-v0", "spade/Gadget-v0"]
    assert found["versions"][1].regret == 0.5  # its measures had stayed
    assert found["versions"][1].skills == ("testing",)
    assert len(found["refusals"]) == 1


def test_missing_records_are_made_from_the_files(registry: Registry) -> None:
    for path in registry.root.glob("records.db*"):
        path.unlink()
    done = rebuild(registry)
    assert (done.found, done.versions, done.lost, done.old) == ("missing", 3, {}, None)
    assert [one.status for one in all_of(registry)["versions"]] == ["active"] * 3
    assert len(all_of(registry)["refusals"]) == 1


def garbage(path: Path) -> None:
    path.write_bytes(b"no database at all, but long enough to be looked at" * 9)


def emptied(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("damage", [garbage, emptied])
def test_of_garbage_only_the_files_are_left_and_it_is_kept(
    registry: Registry, damage: Callable[[Path], None]
) -> None:
    damage(file(registry))
    content = file(registry).read_bytes()
    done = rebuild(registry)
    assert (done.found, done.versions) == ("broken", 3)
    if damage is garbage:
        assert done.lost == dict.fromkeys(("statuses", "measurements", "choices", "refusals"))
        assert done.old is not None
        assert done.old.read_bytes() == content
        assert done.old.name.startswith("records.db.broken-")
    assert known("spade/Widget-v0", [registry]) is not None
    assert rebuild(registry).found == "sound"


def test_of_a_file_that_was_cut_off_much_is_left(registry: Registry) -> None:
    before = all_of(registry)
    registry.records.close()
    content = file(registry).read_bytes()
    file(registry).write_bytes(content[: len(content) * 9 // 10 // 4096 * 4096])
    done = rebuild(registry)
    after = all_of(registry)
    assert done.found == "broken"
    assert after["held"] == before["held"]
    for table in ("statuses", "measurements", "choices"):
        left = sum(map(len, after[table]))
        if table not in done.lost:
            assert after[table] == before[table], table
        elif (count := done.lost[table]) is not None:
            assert left + count >= sum(map(len, before[table])), table


def test_any_damaged_page_costs_no_more_than_what_is_said(registry: Registry) -> None:
    """Pages of the file in turn are overwritten: what is missing is said to be lost, and nothing is made up."""
    before, path = all_of(registry), file(registry)
    content = path.read_bytes()
    rng = random.Random(6)
    pages = rng.sample(range(1, len(content) // 4096), 12)
    for page in pages:
        for place in registry.root.glob("records.db*"):
            place.unlink()
        damaged = bytearray(content)
        damaged[4096 * page : 4096 * (page + 1)] = rng.randbytes(4096)
        path.write_bytes(damaged)
        done = rebuild(registry)
        after = all_of(registry)
        assert after["held"] == before["held"]
        for table in ("statuses", "measurements", "choices"):
            wanted = {one for of_it in before[table] for one in of_it}
            found = {one for of_it in after[table] for one in of_it}
            assert found <= wanted, (page, table)
            missing = len(wanted - found)
            lost = done.lost.get(table, 0)
            assert lost is None or lost >= missing, (page, table)
        assert bool(done.lost) == (done.old is not None)


def test_a_table_is_read_from_both_ends(registry: Registry) -> None:
    with registry.own_records.writing() as connection:
        changes.choose(connection, [Choice(OTHER, "many", number, "one of many") for number in range(600)])
    registry.own_records.close()
    content = bytearray(file(registry).read_bytes())
    pages = [
        place for place in range(0, len(content), 4096) if b"one of many" in content[place : place + 4096]
    ]
    place = pages[len(pages) // 2]
    content[place : place + 4096] = bytes(4096)
    file(registry).write_bytes(content)
    done = rebuild(registry)
    with Registry(registry.root).records.reading() as connection:
        rounds = [one.round for one in reading.choices(connection, OTHER) if one.run == "many"]
    assert (rounds[0], rounds[-1]) == (0, 599)
    assert done.lost["choices"] == 600 - len(rounds) > 0


def test_lost_rows_are_counted(registry: Registry) -> None:
    sql(
        registry,
        "PRAGMA ignore_check_constraints = ON",
        "UPDATE statuses SET status = 'asleep' WHERE reason = 'it is like the next one'",
        "UPDATE measurements SET plays = 'many' WHERE id = 'spade/Gadget-v0'",
        "UPDATE choices SET id = 'no id' WHERE key = 1",
    )
    done = rebuild(registry)
    assert done.lost == {"statuses": 1, "measurements": 3, "choices": 1}
    assert done.old is not None
    with closing(sqlite3.connect(done.old)) as connection:
        assert connection.execute("SELECT count(*) FROM choices WHERE id = 'no id'").fetchone() == (1,)
    assert rebuild(registry).lost == {}


def test_a_newer_schema_is_left_alone_unless_that_is_wanted(registry: Registry) -> None:
    sql(
        registry,
        "UPDATE alembic_version SET version_num = '9999'",
        "ALTER TABLE choices ADD COLUMN mood TEXT",
    )
    content = file(registry).read_bytes()
    with pytest.raises(UsageError, match=r"newer schema than 0002.*--force"):
        rebuild(registry)
    assert file(registry).read_bytes() == content
    done = rebuild(registry, force=True)
    assert (done.found, done.lost) == ("newer", {"newer": None})
    assert done.old is not None
    assert done.salvaged["choices"] == 12
    assert len(all_of(registry)["versions"]) == 4


def test_broken_and_missing_files_keep_what_happened_to_them(registry: Registry) -> None:
    before = all_of(registry)
    broken, gone = registry.root / "Widget" / "v1.py", registry.root / "Gadget"
    text = broken.read_text()
    broken.write_text("edited")
    gone.rename(registry.root / "aside")
    with pytest.warns(RegistryWarning, match=r"v1\.py: its hash"):
        done = rebuild(Registry(registry.root))
    assert (done.unreadable, done.gone, done.lost) == (("spade/Widget-v1",), ("spade/Gadget-v0",), {})
    assert known("spade/Gadget-v0", [registry]) is None
    broken.write_text(text)
    (registry.root / "aside").rename(gone)
    assert rebuild(Registry(registry.root)).entered == ("spade/Gadget-v0",)
    after = all_of(registry)
    assert after == before


def test_another_design_under_an_old_number_has_no_history(registry: Registry) -> None:
    shutil.rmtree(registry.root / "Gadget")
    rebuild(Registry(registry.root))
    new = Registry(registry.root)
    assert str(new.add(source("Gadget", 99), {})) == "spade/Gadget-v0"
    with new.records.reading() as connection:
        assert reading.measurements(connection, "spade/Gadget-v0") == []
        listed = reading.one(connection, "spade/Gadget-v0")
    assert listed is not None
    assert listed.code_sha256 == new.report(new.ids()[0])["code_sha256"]


def test_a_version_of_another_registry_is_found_there_again(registry: Registry) -> None:
    change([OTHER], "retired", "why not", registry)
    sql(registry, f"DELETE FROM versions WHERE id = '{OTHER}'")
    assert rebuild(registry).lost == {}
    found = next(one for one in all_of(registry)["versions"] if one.id == OTHER)
    assert (found.regret, found.status) == (0.5, "retired")
    sql(registry, f"DELETE FROM versions WHERE id = '{OTHER}'")
    shutil.rmtree(registry.root.parent / "other")
    assert rebuild(registry).lost == {"others": 1}


@pytest.mark.parametrize("damage", [None, garbage])
def test_who_stops_it_has_the_old_records(
    registry: Registry, monkeypatch: pytest.MonkeyPatch, damage: Callable[[Path], None] | None
) -> None:
    if damage:
        damage(file(registry))
    before = file(registry).read_bytes()

    def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rebuild(registry, progress=interrupted)
    assert file(registry).read_bytes() == before
    assert not list(registry.root.glob(".new-*"))

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    if damage:
        monkeypatch.setattr(anew, "put_in_place", full)
        with pytest.raises(RegistryError, match="No space left"):
            rebuild(registry)
        assert file(registry).read_bytes() == before
        assert not list(registry.root.glob("records.db.broken-*"))


def test_a_killed_rebuild_leaves_records_that_open(registry: Registry) -> None:
    before = all_of(registry)
    rng = random.Random(6)
    for _ in range(8):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            try:
                while True:
                    rebuild(Registry(registry.root))
            finally:
                os._exit(1)
        time.sleep(rng.uniform(0.02, 0.3))
        os.kill(child, signal.SIGKILL)
        assert os.waitpid(child, 0)[1] == signal.SIGKILL
    assert all_of(registry) == before


def test_records_in_use_are_followed(registry: Registry) -> None:
    """A process that has the records open reads and writes on, whether they were sound or not."""
    user = Registry(registry.root)
    with user.records.reading() as connection:
        assert len(reading.held(connection)) == 3
    rebuild(registry)
    admitted(user, "Cog")
    assert "spade/Cog-v0" in all_of(registry)["held"]
    garbage(file(registry))
    (registry.root / "records.db-wal").unlink(missing_ok=True)
    other = Registry(registry.root)
    with pytest.warns(RegistryWarning, match="Until then only files are read"):
        assert other.records.path is None
    rebuild(registry)
    assert other.records.path == file(registry)
    with other.records.reading() as connection:
        assert len(reading.held(connection)) == 4


def test_there_has_to_be_a_registry(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no registry"):
        rebuild(Registry(tmp_path / "none"))
    assert not (tmp_path / "none").exists()
    with pytest.raises(RegistryError, match="read-only"):
        rebuild(Registry(tmp_path, read_only=True))


def test_it_is_told_as_data(registry: Registry) -> None:
    garbage(file(registry))
    told = json.loads(json.dumps(rebuild(registry).as_dict()))
    assert told["old"].startswith(str(registry.root))
    assert told["lost"]["statuses"] is None
    assert Rebuilt(3).as_dict()["old"] is None


def test_environments_can_be_made_whatever_the_records_are(registry: Registry) -> None:
    garbage(file(registry))
    add_registry(registry.root)
    assert gymnasium.spec("spade/Widget-v1").max_episode_steps == 5
