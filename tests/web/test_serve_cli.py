"""The command that serves: says where, refuses what is unsafe, ends when it is told to."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import plainly
import pytest

from spade_envs.cli import serving
from spade_envs.registry import Registry

Run = Callable[..., tuple[int, str, str]]


def test_an_unsafe_address_is_refused(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(serving.TOKEN, raising=False)
    code, _, err = run("serve", "--host", "0.0.0.0", "--port", "0")
    assert (code, "SPADE_WEB_TOKEN" in err) == (3, True)
    monkeypatch.setenv(serving.TOKEN, "guessable")
    code, _, err = run("serve", "--port", "0")
    assert (code, "too short" in err, "guessable" in err) == (3, True, False)


def test_a_token_that_cannot_be_read(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    for name, says in (
        ("none", "No such file"),
        ("empty", "holds no token"),
        ("binary", "no text"),
        (".", "directory"),
    ):
        code, _, err = run("serve", "--port", "0", "--token-file", tmp_path / name)
        assert code == 3
        assert says in err


def test_a_port_that_is_taken_and_an_address_that_is_none(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, _, err = run("serve", "--port", taken.getsockname()[1])
        assert (code, "--port" in err, "in use" in err) == (3, True, True)
    code, _, err = run("serve", "--host", "127.0.0.1.2.3", "--port", "0")
    assert code == 3
    code, _, err = run("serve", "--registry", "nowhere")
    assert (code, "there is no registry" in err) == (3, True)


def test_without_the_extra_it_says_how_to_have_it(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "NEEDED", ("json", "nowhere_to_be_found"))
    code, _, err = run("serve", "--port", "0")
    assert (code, "nowhere_to_be_found; install them: pip install 'spade-envs[web]'" in err) == (2, True)


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.soak)]
)
def test_it_serves_until_it_is_stopped(shelf: Registry, number: signal.Signals, code: int) -> None:
    command = [sys.executable, "-m", "spade_envs.cli", "serve", "--port", "0", "--registry", str(shelf.root)]
    environment = {**os.environ, serving.TOKEN: "a token that is long enough"}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        address = server.stderr.readline().split()[2]
        answer = plainly.get(
            address, headers={"Authorization": "Bearer a token that is long enough"}, timeout=30
        )
        assert "Lamp row" in answer.text
        server.send_signal(number)
        assert server.wait(20) == code
        assert "Traceback" not in server.stderr.read()
