"""A process that writes into a registry is killed at random moments: what is left opens, files and records agree."""

from __future__ import annotations

import os
import random
import signal
import time
import warnings
from pathlib import Path

import pytest
from test_store import source

from spade_envs.contract import code_sha256
from spade_envs.records import Measured, Query, reading
from spade_envs.registry import Registry, keep_refused, keep_round, refused_designs

GATES = [{"name": "runs", "passed": False, "findings": [{"found": "it is bad", "rule": "made.up"}]}]


def write_for_ever(root: Path, first: int, written: int) -> None:
    """Admit, refuse and measure, from a number on that no other process has used; say so after each version."""
    registry = Registry(root)
    for number in range(first, first + 10_000):
        name = f"Widget{'ABC'[number % 3]}"
        env_id = str(registry.add(source(name, number), {"run": "run", "round": number}))
        os.write(written, b".")
        refused = source("Refused", number)
        keep_refused(registry, refused, {"code_sha256": code_sha256(refused), "gates": GATES})
        keep_round(registry, "run", number, measured=[Measured(env_id, "run", number, 8, success=0.5)])


def killed(root: Path, first: int, rng: random.Random) -> None:
    """Kill a writing process a little after a few versions, so that a busy machine gets as far as an idle one."""
    reading_end, written = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # fork in a process with threads
        child = os.fork()
    if child == 0:
        try:
            write_for_ever(root, first, written)
        finally:
            os._exit(1)
    os.close(written)
    for _ in range(rng.randrange(3)):
        assert os.read(reading_end, 1)
    time.sleep(rng.uniform(0, 0.05))
    os.kill(child, signal.SIGKILL)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL  # it ended by nothing else
    os.close(reading_end)


def check(root: Path) -> int:
    """Return how many versions there are, after a look at all of them."""
    registry = Registry(root)
    with registry.own_records.reading() as connection:
        listed = {one.id: one for one in reading.listed(connection, Query(all_versions=True))}
        newest = [one.id for one in reading.listed(connection, Query())]
    held = {str(entry.header.id): entry for entry in registry.entries()}
    assert listed.keys() == held.keys()
    assert all(listed[name].file_sha256 == entry.file_sha256 for name, entry in held.items())
    codes = [entry.report["code_sha256"] for entry in held.values()]
    assert len(codes) == len(set(codes))
    last: dict[str, str] = {}
    for entry in held.values():  # by name and version
        last[entry.header.id.name] = str(entry.header.id)
    assert newest == list(last.values())
    assert all(design.path.exists() for design in refused_designs(root))
    registry.own_records.close()
    return len(held)


@pytest.mark.parametrize("kills", [20, pytest.param(100, marks=pytest.mark.soak)])
def test_kills_lose_and_double_nothing(tmp_path: Path, kills: int) -> None:
    check(tmp_path)
    rng = random.Random(6)
    before = 0
    for kill in range(kills):
        killed(tmp_path, 10_000 * kill, rng)
        if kill % 10 == 9:
            now = check(tmp_path)
            assert now >= before
            before = now
    assert before > kills / 2
    cut_off = [path for path in tmp_path.glob("Widget*/v*.json") if not path.with_suffix(".py").exists()]
    leftovers = list(tmp_path.rglob(".new-*"))
    assert Registry(tmp_path).add(source("WidgetA", -1), {}).version >= 0, (cut_off, leftovers)
