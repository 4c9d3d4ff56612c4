"""The way to schema 0002: how many tools a version has is read out of its report, whatever that is."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config

from spade_envs.contract.header import Header
from spade_envs.contract.ids import EnvId
from spade_envs.records import Database, filing, schema
from spade_envs.records.migrations.versions import v0002_tools

REPORTS: tuple[tuple[bytes, int | None], ...] = (
    (b'{"gates": [{"name": "form", "saw": {"tools": 3}}, {"saw": {"tools": "x"}}]}', 3),
    (b'{"gates": [{"saw": {"tools": 0}}], "distance": NaN}', 0),
    ('{"gates": [{"saw": {"tools": 2}}]}'.encode("utf-16"), 2),
    (b'{"gates": [{"saw": {"text": "\\ud800", "tools": 5}}]}', 5),
    (b'{"gates": [{"saw": {"tools": 1}}, ' + b'{"a":' * 400 + b"1" + b"}" * 400 + b"]}", 1),
    (b'{"gates": [{"saw": {"tools": 4294967296}}]}', None),
    (b'{"gates": [{"saw": {"tools": -1}}]}', None),
    (b'{"gates": [{"saw": {"tools": "3"}}]}', None),
    (b'{"gates": [{"saw": {}}]}', None),
    (b'{"gates": [{"saw": [3]}]}', None),
    (b'{"gates": []}', None),
    (b'{"gates": {"0": 1}}', None),
    (b'[{"saw": {"tools": 1}}]', None),
    (b'{"gates": [{"saw": {"tools": 3}}', None),
    (b"\xff\xfe\x00", None),
    (b"", None),
)


def header(version: int) -> Header:
    return Header(
        id=EnvId("Widget", version),
        title="t",
        summary="s",
        domain="games",
        skills=("x",),
        origin="seed",
        max_episode_steps=5,
        license="Apache-2.0",
        contract=1,
    )


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """Records of schema 0001 beside the reports; one of them is not there."""
    path = tmp_path / "records.db"
    database = Database.open(path, lambda _: None)
    hashes = {"code_sha256": "c", "file_sha256": "f"}
    with database.writing() as connection:
        filing.enter_all(connection, ((header(k), hashes) for k in range(len(REPORTS) + 1)))
        config = Config(attributes={"connection": connection})
        config.set_main_option("script_location", schema._migrations())
        command.downgrade(config, "0001")
    database.close()
    (tmp_path / "Widget").mkdir()
    for number, (report, _) in enumerate(REPORTS):
        (tmp_path / "Widget" / f"v{number}.json").write_bytes(report)
    return path


def tools(path: Path) -> list[int | None]:
    with closing(sqlite3.connect(path)) as connection:
        return [row[0] for row in connection.execute("SELECT tools FROM versions ORDER BY version")]


def test_it_is_read_where_it_can_be(old: Path) -> None:
    Database.open(old, lambda _: None).close()
    assert tools(old) == [wanted for _, wanted in REPORTS] + [None]


def test_much_is_said_to_take_a_while(
    old: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name, value in (("_MANY", 2), ("_PART", 1), ("_EVERY_S", 0.0)):
        monkeypatch.setattr(v0002_tools, name, value)
    database = Database.open(
        old, lambda _: None
    )  # alembic loads a migration anew: what is set here is not its
    assert caplog.messages == []
    with database.writing() as connection:
        connection.exec_driver_sql("UPDATE versions SET tools = NULL")
        v0002_tools._fill(connection)
    database.close()
    assert f"{len(REPORTS) + 1} reports to read" in caplog.messages[0]
    assert f"1 of {len(REPORTS) + 1} reports read, about" in caplog.messages[1]
    assert tools(old) == [wanted for _, wanted in REPORTS] + [None]
