"""A wheel: its name is checked, pip installs it, and importing it registers what it holds."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import os
import subprocess
import sys
import zipfile
from email import message_from_string
from pathlib import Path

import pytest
from designs import HONEST
from parcels import entry, family, source

from spade_envs.errors import UsageError
from spade_envs.registry import Registry
from spade_envs.transfer import chosen, export
from spade_envs.transfer.wheel import Package, package

ROOT = Path(__file__).parents[2]
NAME = "lamp_pack-2.1-py3-none-any.whl"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("lamp_pack.whl", "lamp_pack-1.0-py3-none-any.whl"),
        ("lamp-pack-1.0.whl", "lamp_pack_1_0-1.0-py3-none-any.whl"),
        ("Lamp_Pack-1.0-py3-none-any.whl", "lamp_pack-1.0-py3-none-any.whl"),
        ("lamp_pack-1.0.0.dev-py3-none-any.whl", "lamp_pack-1.0.0.dev0-py3-none-any.whl"),
        ("lamp_pack-one-py3-none-any.whl", "write for example"),
        ("lamp_pack-1.0-cp311-cp311-linux_x86_64.whl", "lamp_pack-1.0-py3-none-any.whl"),
        ("lamp_pack-1.0-1-py3-none-any.whl", "lamp_pack-1.0-py3-none-any.whl"),
        ("lamp_pack-1.0-py2.py3-none-any.whl", "lamp_pack-1.0-py3-none-any.whl"),
        ("../x\x1b-1.0-py3-none-any.whl", r"\\x1b"),
        ("3lamps-1.0-py3-none-any.whl", "cannot be imported"),
        ("class-1.0-py3-none-any.whl", "cannot be imported"),
        ("json-1.0-py3-none-any.whl", "something else on this machine"),
        ("numpy-1.0-py3-none-any.whl", "something else on this machine"),
        ("spade_envs-1.0-py3-none-any.whl", "something else on this machine"),
        ("small_designs-1.0-py3-none-any.whl", "something else on this machine"),
    ],
)
def test_names_that_no_wheel_can_have(name: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tests"))
    with pytest.raises(UsageError, match=says):
        package(name)


def test_a_name_that_it_can_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert package(NAME) == Package("lamp-pack", "2.1")
    (tmp_path / "lamp_pack").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    assert package(NAME).module == "lamp_pack", "a folder beside is no package"


def test_its_record_and_metadata_are_as_specified(tmp_path: Path) -> None:
    versions = [
        entry(source("spade/One-v0", license="MIT")),
        entry(source("spade/Two-v3", license="Apache-2.0 OR MIT")),
    ]
    export(tmp_path / NAME, versions)
    with zipfile.ZipFile(tmp_path / NAME) as archive:
        data = {name: archive.read(name) for name in archive.namelist()}
    record = list(csv.reader(io.StringIO(data["lamp_pack-2.1.dist-info/RECORD"].decode())))
    assert [row[0] for row in record] == list(data), "every file stands in the record, in order"
    for name, digest, size in record[:-1]:
        expected = base64.urlsafe_b64encode(hashlib.sha256(data[name]).digest()).decode().rstrip("=")
        assert (digest, int(size)) == (f"sha256={expected}", len(data[name]))
    told = message_from_string(data["lamp_pack-2.1.dist-info/METADATA"].decode())
    assert (told["Name"], told["Version"]) == ("lamp-pack", "2.1")
    assert told["License-Expression"] == "(Apache-2.0 OR MIT) AND MIT"
    assert "- `spade/Two-v3`: A design" in told.get_payload()
    assert "Tag: py3-none-any" in data["lamp_pack-2.1.dist-info/WHEEL"].decode()


def test_a_licence_that_spdx_does_not_list_is_not_claimed(tmp_path: Path) -> None:
    export(tmp_path / NAME, [entry(source("spade/One-v0", license="Mine-1.0"))])
    with zipfile.ZipFile(tmp_path / NAME) as archive:
        assert b"License-Expression" not in archive.read("lamp_pack-2.1.dist-info/METADATA")


STRANGER = """
import gymnasium

env = gymnasium.make("lamp_pack:spade/LampPacked-v0")
observation, info = env.reset(seed=0)
assert env.observation_space.contains(observation)
env.close()

import lamp_pack

assert lamp_pack.__version__ == "2.1"
gymnasium.make("spade/LampPacked-v0").close()
try:
    lamp_pack.registry.add(lamp_pack.registry.source(lamp_pack.registry.ids()[0]), {})
except Exception as error:
    print("made", env.spec.id, "and:", error)
"""


def test_pip_installs_it_and_importing_it_registers(tmp_path: Path) -> None:
    Registry(tmp_path / "shelf").add(HONEST.replace("LampHunt", "LampPacked"), {})
    export(tmp_path / NAME, chosen(registry=Registry(tmp_path / "shelf")))
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-compile"]
    subprocess.run([*pip, "--target", tmp_path / "site", tmp_path / NAME], check=True, cwd=tmp_path)
    paths = os.pathsep.join([str(tmp_path / "site"), str(ROOT)])
    clean = {**os.environ, "PYTHONPATH": paths, "SPADE_REGISTRY": str(tmp_path / "none")}
    clean["PYTHONDONTWRITEBYTECODE"] = "1"  # what Python itself keeps beside a module is not the question
    command = [sys.executable, "-W", "error::UserWarning", "-c", STRANGER]
    done = subprocess.run(command, capture_output=True, text=True, env=clean, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    assert "made spade/LampPacked-v0 and:" in done.stdout
    assert "is read-only" in done.stdout
    brought = {path.name for path in (tmp_path / "site" / "lamp_pack").rglob("*") if path.is_file()}
    assert brought == {"__init__.py", ".read-only", "v0.py", "v0.json"}, (
        "nothing is written beside what was installed"
    )


def test_two_wheels_of_one_name_may_follow_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = chosen(registry=family(tmp_path / "shelf"))
    export(tmp_path / NAME, versions)
    with zipfile.ZipFile(tmp_path / NAME) as archive:
        archive.extractall(tmp_path / "site")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    export(tmp_path / NAME.replace("2.1", "2.2"), versions)
