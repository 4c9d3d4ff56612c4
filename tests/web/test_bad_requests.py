"""Whatever is sent, a page or a problem answers with its status, never a traceback, and the next one is answered."""

from __future__ import annotations

import html
import json
import os
import shutil
import socket
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import plainly
import pytest
from shelf import filled

from spade_envs.registry import Registry, shipped_registry
from spade_envs.web import health, patience

MANY = 10_000_000
HEAD = "Host: localhost\r\nAccept: application/json\r\nConnection: close\r\n"


@pytest.fixture(autouse=True)
def nothing_fails(site: str, caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    yield
    assert [record for record in caplog.records if record.levelname in ("ERROR", "CRITICAL")] == []
    assert plainly.get(f"{site}/health").status_code == 200


def raw(site: str, request: bytes) -> tuple[int, bytes]:
    """Send bytes as they are; return the status and the body, 0 and nothing where the connection was closed."""
    with socket.create_connection((urlsplit(site).hostname, urlsplit(site).port), timeout=20) as connection:
        connection.sendall(request)
        answer = b""
        while part := connection.recv(65536):
            answer += part
    assert b"Traceback" not in answer
    head, _, body = answer.partition(b"\r\n\r\n")
    return (int(head.split()[1]) if head else 0), body


def asked(site: str, path: bytes) -> tuple[int, bytes]:
    return raw(site, b"GET " + path + b" HTTP/1.1\r\n" + HEAD.encode() + b"\r\n")


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/environments/Nothing", 404),
        ("/environments/LampRow-v99", 404),
        ("/environments/LampRow-v1.5", 404),
        ("/environments/LampRow-v99999999999999999999", 404),
        ("/environments/LampRow/nothing", 404),
        ("/environments/LampRow/source?first=0", 400),
        ("/environments/LampRow/source?first=x", 400),
        ("/environments/LampRow/diff?other=Nothing", 404),
        ("/environments/..%2F..%2Fetc%2Fpasswd", 404),
        ("/environments/%00", 404),
        ("/environments/" + "A" * 3000, 404),
        ("/?domain=nothing", 400),
        ("/?difficulty=a..b", 400),
        ("/?difficulty=1..0", 400),
        ("/?difficulty=nan..1", 400),
        ("/?round=first", 400),
        ("/?round=" + "9" * 19, 400),
        ("/?round=-1", 400),
        ("/?turns=x", 400),
        ("/?more=nothing", 400),
        ("/?format=xml", 400),
        ("/environments/LampRow?format=xml", 400),
        ("/?format=html", 200),
        ("/?page=0", 400),
        ("/?page=-1", 400),
        ("/?page=99999999", 400),
        ("/?tools=maybe", 400),
        ("/?sort=rank", 400),
        ("/?view=none", 400),
        ("/?q=" + "a" * 301, 400),
        ("/?q=a%00b%22*", 200),
        ("/?name=..%2F..", 200),
        ("/static/../app.py", 404),
        ("/static/%2e%2e/app.py", 404),
        ("/static/", 404),
    ],
)
def test_what_is_asked_wrongly_is_said(site: str, path: str, status: int) -> None:
    for accept in ("application/json", "text/html"):
        answer = plainly.get(site + path, headers={"Accept": accept})
        assert answer.status_code == status, answer.text
        if status >= 400:
            assert "Traceback" not in answer.text
            assert answer.headers["content-type"].split(";")[0] == (
                "text/html" if accept == "text/html" else "application/problem+json"
            )
            if accept != "text/html":
                assert answer.json()["status"] == status
                assert answer.json()["detail"]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("turns=x", ("'turns'", "steps")),
        ("domian=games", ("'domian'", "did you mean domain?")),
        ("round=-1", ("round -1", "which is 0")),
        ("more=skil", ("facet 'skil'", "did you mean skill?")),
        ("format=xml", ("'xml'", "html or json")),
        ("page=0", ("page",)),
    ],
)
def test_what_is_wrong_is_named(site: str, query: str, words: tuple[str, ...]) -> None:
    said = plainly.get(f"{site}/?{query}", headers={"Accept": "application/json"}).json()["detail"]
    assert [word for word in words if word not in said] == [], said
    page = html.unescape(plainly.get(f"{site}/?{query}").text)
    assert said in page


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "TRACE", "BREW"])
def test_a_method_that_no_page_knows_is_said(site: str, method: str) -> None:
    for path in ("/", "/play/LampRow", "/sign-in"):
        for headers in ({}, {"Content-Type": "text/plain"}, {"Content-Type": "application/json"}):
            content = b"{}" if headers else None
            answer = httpx2.request(method, site + path, content=content, headers=headers)
            assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD, POST"), answer.text
    assert httpx2.post(f"{site}/play/LampRow").status_code == 403  # this one may change something


def test_a_request_for_nobody_is_said(site: str) -> None:
    for host in ("", " "):
        status, body = raw(site, f"GET / HTTP/1.1\r\nHost:{host}\r\nConnection: close\r\n\r\n".encode())
        assert status == 400
        assert f"for example `Host: {urlsplit(site).netloc}`" in html.unescape(body.decode())
    status, body = raw(site, b"GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n")
    assert (status, f"http://{urlsplit(site).netloc}/" in body.decode()) == (421, True)


@pytest.mark.parametrize(
    ("path", "statuses"),
    [
        (b"/%", (404,)),
        (b"/%zz%f", (404,)),
        (b"/%ff%fe%ed%a0%80", (404,)),
        (b"/environments/%ed%a0%80", (404,)),
        (b"/?q=%ed%a0%80%ff", (200,)),
        (b"/?q=%", (200,)),
        (b"/?domain=%ff", (400,)),
        (b"/?%ff=%ff&&&=&=", (400,)),
        (b"/?q=a&&&", (200,)),
        (b"/?format=%ff", (400,)),
        (b"/\xff\xfe", (400,)),
        (b"//evil.example/", (404,)),
        (b"http://evil.example/", (200, 400, 404)),
        (b"*", (400, 404)),
        (b"/?q=" + b"a" * 9_000, (414,)),
        (b"/?q=" + b"a" * 1_000_000, (414,)),
        (b"/" + b"a" * 1_000_000, (414,)),
    ],
)
def test_bytes_that_are_no_address(site: str, path: bytes, statuses: tuple[int, ...]) -> None:
    status, body = asked(site, path)
    assert status in statuses, (status, body[:300])


@pytest.mark.parametrize(
    "request_",
    [
        b"\r\n\r\n",
        b"hello\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: \xff\r\n\r\n",
        b'GET / HTTP/1.1\r\nHost: localhost\r\nCookie: =;;;"\r\nConnection: close\r\n\r\n',
        b"GET / HTTP/1.1\r\nHost: localhost\r\nAccept: \xff\xfe\r\nConnection: close\r\n\r\n",
        b"POST /sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST /sign-in HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\nzz\r\n",
        b"BREW / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        b"GET /" + b"x" * 3_000_000,
    ],
)
def test_bytes_that_are_no_request(site: str, request_: bytes) -> None:
    with socket.create_connection((urlsplit(site).hostname, urlsplit(site).port), timeout=20) as connection:
        try:
            connection.sendall(request_)
            connection.shutdown(socket.SHUT_WR)
            answer = b""
            while part := connection.recv(65536):
                answer += part
        except OSError:  # it would not hear all of it
            return
    assert b"Traceback" not in answer
    assert not answer or answer.startswith(b"HTTP/1.1 "), answer[:200]


@pytest.mark.parametrize("path", ["/sign-in", "/", "/environments/LampRow", "/play/LampRow", "/replay"])
def test_ten_megabytes_are_too_many(site: str, path: str) -> None:
    def parts() -> Iterator[bytes]:
        yield from (b"x" * 100_000 for _ in range(MANY // 100_000))

    for content in (b"x" * MANY, parts()):
        answer = httpx2.post(
            site + path, content=content, headers={"Content-Type": "application/json"}, timeout=30
        )
        assert answer.status_code == 413, answer.text
        assert "at most 256,000 bytes" in answer.text


def test_what_is_no_form_and_no_json_is_refused(site: str) -> None:
    for kind, status in (("text/plain", 415), ("multipart/form-data; boundary=x", 415), ("", 415)):
        answer = httpx2.post(f"{site}/sign-in", content=b"a=b", headers={"Content-Type": kind})
        assert answer.status_code == status
    for content in (b"{", b'{"a": NaN', b"\xff\xfe", b'"\\ud800"', b"[" * 100_000):
        answer = httpx2.post(
            f"{site}/play/LampRow?seed=0", content=content, headers={"Content-Type": "application/json"}
        )
        assert answer.status_code == 400, answer.text
        assert answer.headers["content-type"] == "application/problem+json"
    for method in ("PUT", "DELETE", "PATCH"):
        answer = httpx2.request(method, f"{site}/", json={})
        assert answer.status_code == 405
        assert answer.json()["status"] == 405


def test_wrong_seeds_and_levels_are_said(site: str) -> None:
    for query in ("seed=x", "seed=-1", "seed=" + "9" * 400, "seed=1.5", "seed=0&level=99", "seed=0&level=x"):
        answer = plainly.get(f"{site}/play/LampRow?{query}", headers={"Accept": "application/json"})
        assert answer.status_code == 400, (query, answer.text)


def test_half_a_request_holds_nobody_up(site: str) -> None:
    with closing(socket.create_connection((urlsplit(site).hostname, urlsplit(site).port))) as connection:
        connection.sendall(b"POST /sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nabc")
        assert plainly.get(f"{site}/health").status_code == 200


def test_records_that_are_damaged_are_said(serve: Callable[..., str], tmp_path: Path) -> None:
    registry = filled(tmp_path / "registry")
    address = serve(stack=[registry])
    assert plainly.get(f"{address}/").status_code == 200
    records = tmp_path / "registry" / "records.db"
    with closing(sqlite3.connect(records)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = records.read_bytes()
    with records.open("r+b") as file:
        file.seek(0)
        file.write(b"\xff" * len(content))
    for path in ("/?status=active", "/environments/LampRow", "/environments/LampRow/history"):
        answer = plainly.get(address + path, headers={"Accept": "application/json"})
        assert answer.status_code == 503, answer.text
        assert "spade-envs rebuild" in answer.json()["detail"]
        assert "records.db" in plainly.get(address + path).text
    assert plainly.get(f"{address}/health").status_code == 503
    assert plainly.get(f"{address}/environments/LampRow/source").status_code in (200, 503)


def test_designs_whose_files_are_gone_or_pipes_are_said(serve: Callable[..., str], tmp_path: Path) -> None:
    """A pipe would hold its reader for ever; a version that is gone is not what was meant instead."""
    registry = filled(tmp_path / "registry")
    address = serve(stack=[registry])
    source = registry.root / "LampRow" / "v0.py"
    kept = source.read_bytes()
    for status, words, harm in (
        (404, "no registry holds", lambda path: None),
        (503, "it is no file", os.mkfifo),
    ):
        source.unlink()
        harm(source)
        for path in (
            "/environments/LampRow-v0",
            "/environments/LampRow-v0/source",
            "/play/LampRow-v0?seed=1",
        ):
            answer = plainly.get(address + path, headers={"Accept": "application/json"}, timeout=10)
            assert (answer.status_code, words in answer.json()["detail"]) == (status, True), answer.text
            assert "did you mean spade/LampRow-v0?" not in answer.text
        source.unlink(missing_ok=True)
        source.write_bytes(kept)


def test_records_that_are_gone_are_made_anew(serve: Callable[..., str], tmp_path: Path) -> None:
    registry = filled(tmp_path / "registry")
    address = serve(stack=[registry])
    before = plainly.get(f"{address}/?format=json").json()["total"]
    for path in (tmp_path / "registry").glob("records.db*"):
        path.unlink()
    assert plainly.get(f"{address}/?format=json").json()["total"] == before
    shutil.rmtree(tmp_path / "registry")
    end = time.monotonic() + 20  # what was read a moment ago may be shown for another one
    while plainly.get(f"{address}/?format=json").json()["total"] and time.monotonic() < end:
        time.sleep(0.1)
    assert plainly.get(f"{address}/?format=json").json()["total"] == 0
    assert plainly.get(f"{address}/environments/LampRow").status_code == 404


@pytest.mark.filterwarnings("default::spade_envs.registry.RegistryWarning")
def test_records_that_are_locked_hide_no_files(
    serve: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(tmp_path / "registry").own_records.close()
    monkeypatch.setattr("spade_envs.records.schema.WAIT_S", 0.1)
    with closing(sqlite3.connect(tmp_path / "registry" / "records.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("BEGIN EXCLUSIVE")
        address = serve(stack=[Registry(tmp_path / "registry")])
        with pytest.warns(match="in use by another process"):
            listed = plainly.get(f"{address}/?format=json", timeout=30)
        assert listed.status_code == 200
        assert len(listed.json()["rows"]) == 5


def test_a_report_of_another_form_is_shown(serve: Callable[..., str], tmp_path: Path) -> None:
    registry, lamps = Registry(tmp_path / "registry"), (shipped_registry() / "LampRow" / "v0.py").read_text()
    reports = [
        {},
        {"gates": 3, "scores": [], "active_pool": "yes", "versions": None},
        {
            "gates": [
                3,
                {},
                {"name": None, "saw": 1, "findings": 1},
                {"findings": [1, {"line": "x"}], "saw": {"a": []}},
            ]
        },
        {"gates": [{"name": "novelty", "saw": {"nearest": [1, {}, {"id": 1}, {"id": "x", "tree": "y"}]}}]},
        {
            "gates": [
                {
                    "name": "x",
                    "saw": {"expert, level 1": "5/0", "a": "9/1", "uniform": "1/2 [x", "held": None},
                }
            ]
        },
        {"provenance": 3, "scores": {"a": {"b": [{}]}}, "admitted_at": 3, "run": 3, "round": "x"},
        json.loads('{"gates": [{"name": "hint", "saw": {"example": 1e400}}]}'),
    ]
    ids = [str(registry.add(f"{lamps}\n# {number}\n", report)) for number, report in enumerate(reports)]
    address = serve(stack=[registry])
    for env_id in ids:
        for part in (
            "",
            "/admission",
            "/neighbours",
            "/history",
            "/measured",
            "/lineage",
            "/source",
            "/diff",
        ):
            for form in ("", "?format=json"):
                answer = plainly.get(f"{address}/environments/{env_id.removeprefix('spade/')}{part}{form}")
                assert answer.status_code == 200, (env_id, part, answer.text)


def closed(connection: socket.socket) -> bool:
    """Whether the server ends the connection within a few seconds, having said nothing more."""
    connection.settimeout(5)
    return connection.recv(1) == b""


def test_who_asks_nothing_keeps_no_place(
    serve: Callable[..., str], shelf: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience, "HEAD_S", 0.5)
    address = urlsplit(serve(stack=[shelf]))
    there = address.hostname, address.port
    with ExitStack() as stack:
        silent, halting, again = (stack.enter_context(socket.create_connection(there)) for _ in range(3))
        halting.sendall(b"GET /hea")
        request = b"GET /health HTTP/1.1\r\nHost: " + address.netloc.encode() + b"\r\n\r\n"
        for _ in range(2):  # two on one connection, each in its time
            again.sendall(request)
            answer = again.recv(1 << 16)
            while not answer.endswith(b"}"):
                answer += again.recv(1 << 16)
            assert answer.startswith(b"HTTP/1.1 200")
            time.sleep(0.3)
        again.sendall(request[:9])
        assert closed(again)
        assert closed(silent)
        assert closed(halting)


def test_a_slow_answer_is_waited_for(
    serve: Callable[..., str], shelf: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience, "HEAD_S", 0.2)
    monkeypatch.setattr(health, "known", lambda *_: time.sleep(0.6))
    address = serve(stack=[shelf])
    request = (
        b"GET /health HTTP/1.1\r\nHost: "
        + urlsplit(address).netloc.encode()
        + b"\r\nConnection: close\r\n\r\n"
    )
    assert raw(address, request)[0] == 200
