"""Landlock: what it stops while no other layer does, by the version that the kernel has."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from locked import ALL, LANDLOCK, locked

from spade_envs.isolation import landlock

VERSION = landlock.version()
pytestmark = pytest.mark.skipif(not VERSION, reason="this kernel has no Landlock, or it is turned off")
FILES = [
    "os.open('/etc/passwd', os.O_RDONLY)",
    "os.open('/tmp', os.O_TMPFILE | os.O_WRONLY)",
    "os.listdir('/')",
    "os.mkdir(f'/tmp/spade-{os.getpid()}')",
    "os.symlink('/', f'/tmp/spade-link-{os.getpid()}')",
    "os.execv('/bin/sh', ['sh', '-c', ''])",
]
TCP = ["socket.socket().bind(('127.0.0.1', 0))", "socket.socket().connect(('127.0.0.1', 9))"]
SCOPED = ["os.kill(parent, 0)", "socket.socket(socket.AF_UNIX).connect(b'\\0spade-landlock')"]


def test_it_alone_keeps_files_out_of_reach() -> None:
    assert set(locked(FILES, [LANDLOCK]).values()) == {"EACCES"}


@pytest.mark.skipif(VERSION < 4, reason="TCP came with version 4")
def test_it_alone_keeps_tcp_out_of_reach() -> None:
    assert set(locked(TCP, [LANDLOCK]).values()) == {"EACCES"}


@pytest.mark.skipif(VERSION < 6, reason="signals came with version 6")
def test_it_alone_keeps_signals_from_others() -> None:
    attempts = ["os.kill(parent, 0)", "os.kill(os.getpid(), 0)"]
    assert list(locked(attempts, [LANDLOCK]).values()) == ["EPERM", "None"]


def test_without_it_these_would_work(tmp_path: Path) -> None:
    answers = locked([*FILES[:3], *TCP, *SCOPED], [])
    assert not set(answers.values()) & {"EACCES", "EPERM"}


def test_it_is_asked_for_as_much_as_the_kernel_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ruleset for each version that the kernel might have said."""
    for version in range(1, VERSION + 1):
        rules = landlock._empty_rules(version)
        assert rules >= 0, version
        os.close(rules)


def test_a_kernel_without_it_loses_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "_CREATE_RULESET", 100_000)  # no such call
    assert (landlock.version(), landlock.restrict()) == (0, 0)
    rest = [layer for layer in ALL if layer != LANDLOCK]
    assert locked(["open('/etc/passwd')"], rest) == {"open('/etc/passwd')": "EPERM"}
