"""Data sets of the hub: a hub on loopback, one that is down, one that never answers, one that answers in HTML."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from spade_envs.errors import UsageError
from spade_train.corpus import Source, cache, hub
from spade_train.corpus.hub import Answer, DataSet

LONG = (
    "This text has words enough to be a document that a design can be grounded on, as any reader will agree."
)
COMMIT = "a" * 40


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(hub, "folder", lambda: tmp_path / "cache")


def serve(answer: Any) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self)

        do_HEAD = do_POST = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def html(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(b"<html>Log in to this network</html>")

    for address in serve(answer):
        monkeypatch.setenv("HF_ENDPOINT", address)
        yield


@pytest.fixture
def deaf(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A hub that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.getsockname()[1]}")
        monkeypatch.setattr(hub, "PATIENCE", 0.3)
        yield


@pytest.fixture
def down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")


@pytest.mark.parametrize("fault", ["html", "deaf", "down"])
def test_a_hub_out_of_reach_is_told_at_once_with_the_mend(fault: str, request: pytest.FixtureRequest) -> None:
    request.getfixturevalue(fault)
    began = time.monotonic()
    with pytest.raises(
        UsageError, match=r"hf:owner/stories: the hub is out of reach \(.+\). Set HF_ENDPOINT"
    ):
        Source.read("hf:owner/stories")
    assert time.monotonic() - began < 8


def test_what_was_read_before_serves_where_the_hub_is_out_of_reach(down: None) -> None:
    wanted = DataSet.parse("owner/stories:test")
    cache.keep(
        f"hub/{wanted.file(COMMIT)}", cache.Kept((hub.Document(LONG, "hf:owner/stories:test:1", "MIT"),))
    )
    source = Source.read("hf:owner/stories:test")
    assert [one.source for one in source.documents] == ["hf:owner/stories:test:1"]
    assert "an earlier day" in source.unread[0].found
    with pytest.raises(UsageError, match="out of reach"):
        Source.read("hf:owner/stories:train")
    with pytest.raises(UsageError, match="out of reach"):
        Source.read(f"hf:owner/stories@{'b' * 40}:test")


def test_a_word_has_parts() -> None:
    assert DataSet.parse("o/n") == DataSet("o/n")
    assert DataSet.parse("o/n/en@v1.0:test") == DataSet("o/n", "en", "v1.0", "test")


@pytest.mark.parametrize("word", ["n", "o/n:", "o/n/x/y", "", "o/n:a b"])
def test_a_word_that_is_no_data_set_is_refused(word: str) -> None:
    with pytest.raises(UsageError, match="Write hf:OWNER/NAME"):
        DataSet.parse(word)


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The rows that the stream gives; an exception among them is raised."""
    found: list[Any] = []

    def stream(*_: object) -> Iterator[Any]:
        for row in found:
            if isinstance(row, Exception):
                raise row
            yield row

    monkeypatch.setattr(hub, "_rows", stream)
    monkeypatch.setattr(hub, "_asked", lambda _: Answer(COMMIT, "CC-BY-4.0"))
    return found


def test_rows_are_kept_for_a_commit(rows: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    rows += [{"text": LONG, "license": "MIT"}, {"text": 3}, {"orig_doc": f"Other. {LONG}"}]
    first = Source.read("hf:owner/stories")
    assert [one.source for one in first.documents] == ["hf:owner/stories:train:1", "hf:owner/stories:train:3"]
    assert [one.licence for one in first.documents] == ["MIT", "CC-BY-4.0"]
    assert [one.place for one in first.unread] == ["hf:owner/stories:train:2"]
    rows[:] = [RuntimeError("asked again")]
    assert Source.read("hf:owner/stories") == first
    monkeypatch.setattr(hub, "_asked", lambda _: Answer("b" * 40))
    with pytest.raises(UsageError, match="asked again"):
        Source.read("hf:owner/stories")


def test_a_stream_that_breaks_keeps_what_came_and_is_begun_again(rows: list[Any]) -> None:
    rows += [{"text": LONG}, ConnectionError("reset by peer")]
    source = Source.read("hf:owner/stories")
    assert len(source.documents) == 1
    assert "ended after 1 documents (reset by peer)" in source.unread[0].found
    rows[1:] = [{"text": f"Other. {LONG}"}]
    assert len(Source.read("hf:owner/stories").documents) == 2


def test_a_data_set_without_texts_is_refused(rows: list[Any]) -> None:
    rows += [{"prompt": LONG}] * 3
    with pytest.raises(UsageError, match="no row has a string text or orig_doc"):
        Source.read("hf:owner/stories")


def test_no_more_than_the_first_rows_are_read(rows: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "MOST_DOCUMENTS", 2)
    rows += [{"text": f"{LONG} {n}"} for n in range(9)]
    assert len(Source.read("hf:owner/stories").documents) == 2


PROGRAM = """
import json, pathlib
from spade_train.corpus import Source, cache
cache.folder = lambda: pathlib.Path("kept")
for _ in range(2):
    source = Source.read("hf:owner/stories")
    print(json.dumps([len(source.documents), source.documents[6].source, source.documents[6].licence]))
try:
    Source.read("hf:owner/nothing")
except Exception as problem:
    print(json.dumps(str(problem)))
"""


@pytest.mark.slow
def test_rows_are_streamed_from_a_real_client(tmp_path: Path) -> None:
    """A process of its own: the client reads the hub's address when it is imported."""
    asked: list[str] = []
    for address in serve(lambda handler: stories(handler, asked)):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "HF_ENDPOINT": address, "HF_HOME": str(tmp_path / "home")},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    first, again, nothing = map(json.loads, done.stdout.splitlines())
    assert first == again == [7, "hf:owner/stories:train:7", "cc0-1.0"]
    assert "the hub shows no such data set" in nothing
    assert 0 < sum(path.endswith("train.jsonl") for path in asked) < 3


def stories(handler: BaseHTTPRequestHandler, asked: list[str]) -> None:
    """Answer as the hub does for one data set with one file of rows."""
    rows = "\n".join(json.dumps({"text": f"{n}. {LONG}"}) for n in range(7)).encode()
    path, root = handler.path.partition("?")[0], "/api/datasets/owner/stories"
    asked.append(path)
    if path in (root, f"{root}/revision/{COMMIT}"):
        card = {"license": "cc0-1.0"}
        reply(
            handler,
            {
                "id": "owner/stories",
                "sha": COMMIT,
                "siblings": [{"rfilename": "train.jsonl"}],
                "cardData": card,
            },
        )
    elif path == f"{root}/tree/{COMMIT}":
        reply(handler, [{"type": "file", "path": "train.jsonl", "size": len(rows), "oid": "b" * 40}])
    elif path == f"/datasets/owner/stories/resolve/{COMMIT}/train.jsonl":
        handler.send_response(206)
        handler.send_header("Content-Range", f"bytes 0-{len(rows) - 1}/{len(rows)}")
        handler.send_header("Content-Length", str(len(rows)))
        handler.end_headers()
        handler.wfile.write(rows)
    else:
        handler.send_response(404)
        handler.send_header("X-Error-Code", "EntryNotFound" if "stories" in path else "RepoNotFound")
        handler.end_headers()


def reply(handler: BaseHTTPRequestHandler, answer: object) -> None:
    handler.send_response(200)
    handler.end_headers()
    handler.wfile.write(json.dumps(answer).encode())
