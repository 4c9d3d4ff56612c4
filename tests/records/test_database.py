"""The file of records: made whole, brought up to date, refused with a mend, followed where it is replaced."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import sqlite3
import subprocess
import sys
import warnings
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import Connection, func, select

from spade_envs.errors import RegistryError
from spade_envs.records import Choice, Database, changes, schema
from spade_envs.records.database import put_in_place
from spade_envs.records.tables import CHOICES, METADATA, SCHEMA


def nothing(_: Connection) -> None:
    pass


def choices(database: Database) -> int:
    with database.reading() as connection:
        return int(connection.execute(select(func.count()).select_from(CHOICES)).scalar_one())


def choose(database: Database, number: int = 0) -> None:
    with database.writing() as connection:
        changes.choose(connection, [Choice("spade/A-v0", "run", number, "a test")])


def tables(path: Path) -> set[tuple[str, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return {tuple(row) for row in connection.execute("SELECT type, name, tbl_name FROM sqlite_master")}


def test_a_new_database_is_what_the_migrations_make(tmp_path: Path) -> None:
    Database.open(tmp_path / "new.db", nothing).close()
    empty = tmp_path / "migrated.db"
    sqlite3.connect(empty).close()
    migrated = Database(empty)
    with migrated.writing() as connection:
        schema.migrate(connection)
    migrated.close()
    assert tables(empty) == tables(tmp_path / "new.db")
    with migrated.reading() as connection:
        context = MigrationContext.configure(
            connection, opts={"include_name": lambda name, *_: "texts" not in str(name)}
        )
        assert compare_metadata(context, METADATA) == []
        assert context.get_current_revision() == SCHEMA == schema.known_schemas()[0]


def test_every_migration_has_a_way_back(tmp_path: Path) -> None:
    database = Database.open(tmp_path / "records.db", nothing)
    with database.writing() as connection:
        config = Config(attributes={"connection": connection})
        config.set_main_option("script_location", schema._migrations())
        command.downgrade(config, "base")
    assert {name for _, name, _ in tables(tmp_path / "records.db") if not name.startswith("sqlite_")} == {
        "alembic_version"
    }


def test_what_fails_while_it_is_made_leaves_no_file(tmp_path: Path) -> None:
    def failing(_: Connection) -> None:
        raise RegistryError("a file cannot be read")

    with pytest.raises(RegistryError, match="a file"):
        Database.open(tmp_path / "records.db", failing)
    assert list(tmp_path.iterdir()) == []


def test_a_transaction_that_fails_changed_nothing(tmp_path: Path) -> None:
    database = Database.open(tmp_path / "records.db", nothing)

    def fail() -> None:
        with database.writing() as connection:
            changes.choose(connection, [Choice("spade/A-v0", "run", 0, "a test")])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert choices(database) == 0


def _newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9\x1b[2J99'")
        connection.commit()


def _halved(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (
            lambda path: path.write_bytes(b"no database at all, but long enough to be looked at" * 9),
            "spade-envs rebuild",
        ),
        (lambda path: path.write_bytes(b""), "no database of records"),
        (_halved, "spade-envs rebuild"),
        (_newer, r"is of schema 9\\x1b\[2J99, this spade-envs knows up to 0002: install a newer one"),
    ],
    ids=["garbage", "empty", "halved", "newer"],
)
def test_what_is_no_database_is_named_with_its_mend(
    tmp_path: Path, damage: Callable[[Path], None], says: str
) -> None:
    path = tmp_path / "records.db"
    Database.open(path, nothing).close()
    damage(path)
    with pytest.raises(RegistryError, match=says) as error:
        choose(Database.open(path, nothing))
    assert str(path) in str(error.value)


def test_a_file_that_is_replaced_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "records.db"
    database = Database.open(path, nothing)
    choose(database)
    other = Database.open(tmp_path / "other.db", nothing)
    other.close()
    put_in_place(tmp_path / "other.db", path)
    assert choices(database) == 0
    choose(database)
    assert choices(Database.open(path, nothing)) == 1


def test_read_only_is_said_and_reading_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "records.db"
    writer = Database.open(path, nothing)
    choose(writer)
    reader = Database.open(path, nothing, read_only=True)
    assert choices(reader) == 1
    with pytest.raises(RegistryError, match="read-only"):
        choose(reader)


def _write(path: Path, worker: int) -> None:
    database = Database.open(path, nothing)
    for number in range(25):
        choose(database, 100 * worker + number)


def test_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "records.db"
    context = multiprocessing.get_context("fork")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        workers = [context.Process(target=_write, args=(path, k)) for k in range(4)]  # all of them make it
        for worker in workers:
            worker.start()
    for worker in workers:
        worker.join(60)
    assert choices(Database.open(path, nothing)) == 100
    assert {entry.name.partition("-")[0] for entry in tmp_path.iterdir()} == {"records.db"}


def test_a_forked_process_goes_on_with_it(tmp_path: Path) -> None:
    database = Database.open(tmp_path / "records.db", nothing)
    choose(database)
    child = os.fork()
    if child == 0:
        try:
            choose(database, 1)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    choose(database, 2)
    assert choices(database) == 3


@pytest.mark.skipif(os.geteuid() != 0, reason="needs another user")
def test_who_may_not_write_reads_nevertheless(tmp_path: Path) -> None:
    shared = Path("/tmp") / f"records-{os.getpid()}"  # pytest's own folder is closed to others
    shared.mkdir(mode=0o755)
    try:
        database = Database.open(shared / "records.db", nothing)
        choose(database)
        database.close()
        script = f"""
import os
from pathlib import Path
from spade_envs.records import Database
from sqlalchemy import text
import sqlalchemy.dialects.sqlite
os.setuid(65534)
d = Database.open(Path({str(shared)!r}) / "records.db", lambda c: None, read_only=True)
with d.reading() as c:
    print(c.execute(text("SELECT count(*) FROM choices")).scalar_one())
"""
        environment = {**os.environ, "SPADE_REGISTER": "0"}
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment)
        assert done.stdout.strip() == "1", done.stderr
    finally:
        shutil.rmtree(shared)
