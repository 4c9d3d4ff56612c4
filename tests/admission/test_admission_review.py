"""Review: only a plain yes lets a design pass; all that can go wrong on the way refuses it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from designs import HONEST, flawed
from hypothesis import given
from hypothesis import strategies as st

from spade_envs.admission import Settings, Surroundings, judge
from spade_envs.admission.judging import STAGES
from spade_envs.admission.lab import Lab
from spade_envs.admission.review import Reviewer, consult, parse, review
from spade_envs.admission.review_http import HttpReviewer, from_environment
from spade_envs.admission.sheet import Sheet
from spade_envs.contract import Header, parse_header
from spade_envs.errors import UsageError

QUICK = Settings(reset_seeds=20, expert_seeds=10, replayed_seeds=2, review=True)
YES = '{"verdict": "accept", "reason": "Rules and code agree."}'
NO = '{"verdict": "reject", "reason": "The rules hide the goal."}'


@dataclass
class Fixed:
    """A reviewer that always says the same, or fails."""

    reply: str | Exception
    name: str = "fixed"
    asked: list[str] = field(default_factory=list)

    def ask(self, prompt: str) -> str:
        self.asked.append(prompt)
        if isinstance(self.reply, Exception):
            raise self.reply
        return self.reply


def reviewed(reply: str | Exception, source: str = HONEST) -> tuple[Any, Fixed]:
    reviewer = Fixed(reply)
    return judge(source, settings=QUICK, around=Surroundings(reviewer=reviewer)), reviewer


@pytest.fixture(scope="module")
def played() -> Iterator[Lab]:
    """The honest design, played for all other gates."""
    header = parse_header(HONEST)
    assert isinstance(header, Header)
    with Lab(HONEST, header, QUICK) as lab:
        for _, probe, _ in STAGES:
            if probe:
                probe(lab)
        yield lab


def verdict_of(reviewer: Reviewer, played: Lab) -> Sheet:
    """Ask the gate alone: what it reads has been played once."""
    lab, sheet = copy(played), Sheet("review")
    lab.evidence = replace(played.evidence, around=Surroundings(reviewer=reviewer))
    consult(lab)
    review(lab.evidence, lab.settings, sheet)
    return sheet


def test_a_yes_admits_and_the_prompt_holds_rules_source_and_two_episodes() -> None:
    report, reviewer = reviewed(YES)
    assert report.admitted, report.text()
    assert report.gates[-1].saw["reviewer"] == "fixed"
    (prompt,) = reviewer.asked
    assert "One lamp of a row is lit." in prompt
    assert "self.lit = int(self.np_random.integers(self.lamps))" in prompt
    assert "\n> 29\n" in prompt
    won, lost = prompt.split("EPISODE THAT WAS WON")[1].split("EPISODE THAT WAS LOST")
    assert won.count("return 1, success") == 1
    assert lost.count("return 0, no success") == 1


def test_a_no_refuses() -> None:
    report, _ = reviewed(NO)
    assert not report.admitted
    assert [finding.rule for finding in report.gates[-1].findings] == ["review.rejected"]


@pytest.mark.parametrize(
    "reply", ["yes", OSError("no route"), TimeoutError("late"), "", '{"verdict": "accept"}']
)
def test_all_else_refuses(reply: str | Exception, played: Lab) -> None:
    assert not verdict_of(Fixed(YES), played).refuses
    sheet = verdict_of(Fixed(reply), played)
    assert sheet.refuses
    assert [finding.rule for finding in sheet.findings] == ["review.missing"]


def test_no_reviewer_refuses_where_one_is_asked_for() -> None:
    report = judge(HONEST, settings=QUICK)
    assert [finding.rule for finding in report.gates[-1].findings] == ["review.missing"]


def test_it_is_off_by_default_and_never_overrules_another_gate() -> None:
    reviewer = Fixed(NO)
    off = Settings(reset_seeds=20, expert_seeds=10, replayed_seeds=2)
    assert judge(HONEST, settings=off, around=Surroundings(reviewer=reviewer)).admitted
    report, kind = reviewed(YES, flawed("solvable.expert"))
    assert not report.admitted
    assert not kind.asked
    assert not reviewer.asked


@pytest.mark.parametrize(
    "reply",
    [
        YES,
        f"```json\n{YES}\n```",
        f"<think>reject? {NO}</think>\n{YES}\n",
        f"  {YES}  ",
    ],
)
def test_replies_that_count(reply: str) -> None:
    assert parse(reply).accepts is True


@pytest.mark.parametrize(
    "reply",
    [
        f"Sure: {YES}",
        f"{YES}\n{NO}",
        '{"verdict": "reject", "verdict": "accept", "reason": "x"}',
        '{"verdict": "Accept", "reason": "x"}',
        '{"verdict": true, "reason": "x"}',
        '{"verdict": ["accept"], "reason": "x"}',
        '{"verdict": "accept", "reason": 1}',
        '{"verdict": "accept", "reason": "x", "more": 1}',
        f"[{YES}]",
        "[" * 100_000,
    ],
)
def test_replies_that_do_not_count(reply: str) -> None:
    assert parse(reply).accepts is None


@given(st.text())
def test_any_reply_can_be_read(reply: str) -> None:
    assert parse(reply).accepts is None


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server: Any = self.server
        server.seen.append((self.path, self.headers.get("Authorization"), body))
        server.answer(self)

    def log_message(self, *_: Any) -> None: ...


@pytest.fixture
def server() -> Iterator[Any]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        server.daemon_threads = True
        server.seen = []  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


def send(handler: Any, content: Any, status: int = 200, **headers: str) -> None:
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    handler.send_response(status)
    for name, value in {"Content-Length": str(len(data)), **headers}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(data)


def url(server: Any) -> str:
    return f"http://127.0.0.1:{server.server_port}/v1"


def test_an_endpoint_is_asked_in_openais_form(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    server.answer = lambda handler: send(handler, {"choices": [{"message": {"content": YES}}]})
    monkeypatch.setenv("SPADE_REVIEW_URL", url(server) + "/")
    monkeypatch.setenv("SPADE_REVIEW_MODEL", "judge-1")
    monkeypatch.setenv("SPADE_REVIEW_KEY", "k")
    reviewer = from_environment()
    assert reviewer is not None
    assert parse(reviewer.ask("Is it right?")).accepts is True
    path, key, body = server.seen[0]
    assert (path, key, body["model"]) == ("/v1/chat/completions", "Bearer k", "judge-1")
    assert body["messages"] == [{"role": "user", "content": "Is it right?"}]
    assert "'k'" not in repr(reviewer)


def _drip(handler: Any) -> None:
    handler.send_response(200)
    handler.end_headers()
    for _ in range(40):
        time.sleep(0.05)
        try:
            handler.wfile.write(b" ")
        except OSError:
            return


BAD_ANSWERS = {
    "status": lambda handler: send(handler, {}, 500),
    "form": lambda handler: send(handler, {"choices": []}),
    "no json": lambda handler: send(handler, b"hello"),
    "no text": lambda handler: send(handler, {"choices": [{"message": {"content": None}}]}),
    "elsewhere": lambda handler: send(handler, b"", 302, Location="/v1/elsewhere"),
    "too much": lambda handler: send(handler, b" " * 1_100_000),
    "too slow": _drip,
}


@pytest.mark.parametrize("bad", BAD_ANSWERS)
def test_a_bad_answer_is_an_error_in_time(server: Any, bad: str) -> None:
    server.answer = BAD_ANSWERS[bad]
    start = time.monotonic()
    with pytest.raises((OSError, ValueError)):
        HttpReviewer(url(server), "m", key="k", seconds=0.5).ask("?")
    assert time.monotonic() - start < 5
    assert len(server.seen) == 1  # no redirection is followed: the key stays here


def test_an_endpoint_that_is_not_there_refuses(server: Any, played: Lab) -> None:
    server.answer = BAD_ANSWERS["status"]
    (finding,) = verdict_of(HttpReviewer(url(server), "m"), played).findings
    assert finding.rule == "review.missing"
    assert "HTTP Error 500" in finding.found


def test_half_an_address_is_a_usage_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPADE_REVIEW_URL", raising=False)
    monkeypatch.delenv("SPADE_REVIEW_MODEL", raising=False)
    assert from_environment() is None
    monkeypatch.setenv("SPADE_REVIEW_URL", "http://localhost:1/v1")
    with pytest.raises(UsageError, match="SPADE_REVIEW_MODEL"):
        from_environment()
    with pytest.raises(UsageError, match="http"):
        HttpReviewer("file:///etc/passwd", "m")
