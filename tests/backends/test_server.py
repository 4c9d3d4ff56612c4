"""Designs over HTTP: what a good server gets and gives, and that a bad one costs a reason and no more."""

from __future__ import annotations

import asyncio
import pickle
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from web_server import Request, completion, serving

from spade_train.backends import Answer, Ask, Failed, Options, Patience, Price
from spade_train.backends.secret import Secret, key_for
from spade_train.backends.server import Server

QUICK = Patience(connect=10.0, silence=20.0, whole=40.0, tries=3, first=0.01, longest=0.05)
SHORT = replace(QUICK, silence=0.4, whole=1.5)


def ask(text: str = "Design.", seed: int = 1, **more: Any) -> Ask:
    return Ask(({"role": "user", "content": text},), seed, **more)


def server(url: str, patience: Patience = QUICK, **options: Any) -> Server:
    return Server(url, "small", Options(patience=patience, **options))


def test_an_ask_becomes_one_request_and_its_answer_comes_back() -> None:
    with serving(lambda r: r.complete("Here it is.")) as web:
        (found,) = server(web.url, price=Price(1.0, 10.0)).answer(
            [ask(seed=9, max_tokens=5, temperature=0.5, top_p=0.9)]
        )
    assert found == Answer("Here it is.", 7, 5, cost=57e-6)
    assert web.requests[0].head.startswith("POST /v1/chat/completions ")
    assert web.requests[0].body == {
        "model": "small",
        "messages": [{"role": "user", "content": "Design."}],
        "max_tokens": 5,
        "temperature": 0.5,
        "top_p": 0.9,
        "seed": 9,
    }


def test_answers_keep_the_order_of_the_asks_whoever_is_first() -> None:
    def act(request: Request) -> None:
        time.sleep(0.05 * (3 - request.body["seed"]))
        request.complete(f"{request.body['seed']}")

    with serving(act) as web:
        found = server(web.url).answer([ask(seed=n) for n in range(4)])
    assert [one.text for one in found if isinstance(one, Answer)] == ["0", "1", "2", "3"]


def test_no_more_requests_than_allowed_are_under_way_and_not_fewer() -> None:
    lock, now, most = threading.Lock(), [0], [0]

    def act(request: Request) -> None:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.1)
        with lock:
            now[0] -= 1
        request.complete("-")

    with serving(act) as web:
        assert len(server(web.url, parallel=3).answer([ask(seed=n) for n in range(9)])) == 9
    assert most == [3]


def test_equal_prompts_share_a_request_where_that_is_wanted() -> None:
    def act(request: Request) -> None:
        request.complete(
            *[f"{request.body['messages'][0]['content']}{n}" for n in range(request.body.get("n", 1))]
        )

    asks = [ask("a", n) for n in range(3)] + [ask("b", 7)]
    with serving(act) as web:
        found = server(web.url, together=2, parallel=1).answer(asks)
    assert [one.text for one in found if isinstance(one, Answer)] == ["a0", "a1", "a0", "b0"]
    assert [(r.body.get("n"), r.body["seed"]) for r in web.requests] == [(2, 0), (None, 2), (None, 7)]


def test_a_schema_and_the_end_by_length_are_handed_over() -> None:
    with serving(lambda r: r.complete("{", end="length")) as web:
        (found,) = server(web.url).answer([ask(schema={"type": "object"})])
    assert isinstance(found, Answer)
    assert found.cut
    assert web.requests[0].body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "reply", "schema": {"type": "object"}},
    }


def slow(request: Request) -> None:
    request.over.wait(60)


def dripping(request: Request) -> None:
    """A byte now and then: never silent for long, and never done."""
    request.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    while not request.over.wait(0.1):
        request.send(b" ")


def dropped(request: Request) -> None:
    request.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{")


def vanished(request: Request) -> None:
    request.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # closed by a reset


def huge(request: Request) -> None:
    request.send(b"HTTP/1.1 200 OK\r\nContent-Length: 900000000\r\n\r\n")
    while True:
        request.send(b" " * 2**20)


def status(code: str, body: bytes = b"{}", **headers: str) -> Callable[[Request], None]:
    return lambda request: request.reply(body, code, **headers)


def says(body: bytes) -> Callable[[Request], None]:
    return lambda request: request.reply(body)


HTML = b"<!DOCTYPE html><html><body>Welcome</body></html>"


@pytest.mark.parametrize(
    ("act", "reason", "tries"),
    [
        (dropped, "connection ended in the middle", 3),
        (vanished, "connection ended in the middle", 3),
        (huge, "more than 1048576 bytes", 1),
        (says(HTML), "answers with a web page; name the address of its API", 1),
        (status("200 OK", completion("whole")[:-9]), "no whole JSON", 3),
        (says(b""), "its answer is empty", 3),
        (says(b"\xff\xfe"), "no whole JSON", 3),
        (says(b"[" * 100_000), "no whole JSON", 3),
        (says(b"[1]"), r"holds no choices: \[1\]", 1),
        (says(b"null"), "no whole JSON|holds no choices", None),
        (says(b'{"choices": 3}'), "holds no choices", 1),
        (says(b'{"choices": [7]}'), "holds no text: 7", 1),
        (says(completion(None)), "holds no text", 1),
        (says(completion()), "1 replies were asked for and 0 came; does the server know n", 1),
        (says(completion("a", "b")), "1 replies were asked for and 2 came", 1),
        (status("429 Too Many", b'{"error": {"message": "slow down"}}'), "status 429: slow down", 3),
        (status("429 Too Many", Retry_After="3600"), "status 429", 1),
        (status("500 Oh", HTML), "status 500: <!DOCTYPE", 3),
        (status("503 Loading"), "status 503", 3),
        (
            status("401 No", b'{"error": "who?"}'),
            "status 401: the key was refused.*SPADE_DESIGNER_KEY.*who",
            1,
        ),
        (status("404 No"), "no such model, or no such address", 1),
        (
            status("400 Bad", b'{"message": "context\\u001b[31m length"}'),
            r"status 400: context\\x1b\[31m length",
            1,
        ),
        (status("302 Found", Location="http://127.0.0.1:1/"), "sends elsewhere", 1),
        (lambda r: r.send(b"SSH-2.0-OpenSSH\r\n"), "connection ended in the middle", 3),
    ],
)
def test_whatever_a_server_does_wrong_is_a_reason(
    act: Any, reason: str, tries: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spade_train.backends.server.LIMIT", 2**20)
    with serving(act) as web:
        (found,) = server(web.url).answer([ask()])
    assert isinstance(found, Failed)
    assert re.search(reason, found.reason), found.reason
    assert found.reason.startswith(web.url)
    assert "\n" not in found.reason
    assert tries is None or (len(web.requests), found.retried) == (tries, tries - 1)


@pytest.mark.parametrize(
    ("act", "reason"), [(slow, "said nothing for 0.4 s"), (dripping, "no answer within 1.5 s")]
)
def test_nobody_waits_beyond_the_deadline(act: Any, reason: str) -> None:
    began = time.monotonic()
    with serving(act) as web:
        (found,) = server(web.url, SHORT).answer([ask()])
        seconds = time.monotonic() - began
    assert isinstance(found, Failed)
    assert reason in found.reason
    assert seconds < 20  # on a busy machine; the server itself would take a minute


def test_nobody_listens() -> None:
    with socket.socket() as taken:  # bound, so that nobody else gets the port, and not listening
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        found = server(url).answer([ask(seed=n) for n in range(3)])
    assert all(isinstance(one, Failed) and "nothing answers there" in one.reason for one in found)
    assert all(isinstance(one, Failed) and one.retried == 2 for one in found)


def test_a_name_that_nobody_knows_is_a_reason() -> None:
    (found,) = server("http://no-such-host.invalid/v1").answer([ask()])
    assert isinstance(found, Failed)
    assert "nothing answers there" in found.reason


def test_a_server_that_recovers_is_asked_again_not_sooner_than_it_wants() -> None:
    times: list[float] = []

    def act(request: Request) -> None:
        times.append(time.monotonic())
        if request.number == 0:
            request.reply(b"{}", "429 Too Many", Retry_After="0.3")
        elif request.number == 1:
            request.reply(b"{}", "503 Loading")
        else:
            request.complete("at last")

    with serving(act) as web:
        (found,) = server(web.url).answer([ask()])
    assert isinstance(found, Answer)
    assert times[1] - times[0] >= 0.3


def test_one_that_fails_costs_the_others_nothing() -> None:
    def act(request: Request) -> None:
        status("400 Bad")(request) if request.body["seed"] == 1 else request.complete("fine")

    with serving(act) as web:
        found = server(web.url).answer([ask(seed=n) for n in range(3)])
    assert [type(one) for one in found] == [Answer, Failed, Answer]


def test_a_request_for_several_that_fails_fails_each() -> None:
    with serving(status("400 Bad")) as web:
        found = server(web.url, together=4).answer([ask(seed=n) for n in range(4)])
    assert [type(one) for one in found] == [Failed] * 4


def test_it_can_be_asked_where_an_event_loop_is_running() -> None:
    async def notebook(url: str) -> list[Answer | Failed]:
        return server(url).answer([ask()])

    with serving(lambda r: r.complete("fine")) as web, ThreadPoolExecutor(1) as threads:
        asked = threads.submit(
            lambda: asyncio.run(notebook(web.url))
        )  # this thread may have a loop of its own
        assert [type(one) for one in asked.result()] == [Answer]


STOPPED = """
import signal, sys
from spade_train.backends import Ask
from spade_train.backends.server import Server
def end(*_):
    raise KeyboardInterrupt
signal.signal(signal.SIGTERM, end)
try:
    Server(sys.argv[1], "m").answer([Ask(({"role": "user", "content": "-"},), n) for n in range(3)])
except KeyboardInterrupt:
    print("stopped")
"""


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_whoever_waits_for_a_slow_server_can_be_stopped(sent: signal.Signals) -> None:
    with (
        serving(slow) as web,
        subprocess.Popen([sys.executable, "-c", STOPPED, web.url], stdout=subprocess.PIPE) as process,
    ):
        while len(web.requests) < 3:
            time.sleep(0.02)
        process.send_signal(sent)
        out, _ = process.communicate(timeout=30)
    assert out == b"stopped\n"


def test_nothing_asked_is_nothing_answered() -> None:
    assert server("http://127.0.0.1:1/v1").answer([]) == []


def test_half_a_surrogate_pair_goes_there_and_comes_back_as_something_that_a_file_can_hold() -> None:
    with serving(lambda r: r.reply(b'{"choices": [{"message": {"content": "\\ud800!"}}]}')) as web:
        (found,) = server(web.url).answer([ask("\ud800?")])
    assert isinstance(found, Answer)
    assert found.text.encode() == b"?!"


def test_the_key_goes_along_and_is_hidden_wherever_a_server_repeats_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SPADE_DESIGNER_KEY", "sk-very-secret")

    def act(request: Request) -> None:
        if request.number:
            request.complete("you are sk-very-secret")
        else:
            request.reply(b'{"error": "wrong key sk-very-secret"}', "400 Bad")

    with serving(act) as web:
        backend = server(web.url, parallel=1)
        found = backend.answer([ask(), ask(seed=2)])
    assert "Authorization: Bearer sk-very-secret" in web.requests[0].head
    assert "sk-very-secret" not in f"{found}{backend}{vars(backend)}{backend.name}"
    assert "[key]" in str(found[0])
    assert "[key]" in str(found[1])


def test_a_key_is_for_the_server_that_it_was_meant_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPADE_DESIGNER_KEY", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai")
    assert key_for("https://api.openai.com/v1").headers() == {"Authorization": "Bearer sk-openai"}
    for other in (
        "http://127.0.0.1:8000/v1",
        "https://openai.com.example.org/v1",
        "https://notopenai.com/v1",
    ):
        assert not key_for(other)
    monkeypatch.setenv("SPADE_DESIGNER_KEY", "own")
    assert key_for("https://api.openai.com/v1").headers() == {"Authorization": "Bearer own"}
    assert key_for("http://127.0.0.1:8000/v1")


def test_a_key_cannot_be_written_by_accident() -> None:
    secret = Secret("sk-very-secret")
    assert "very" not in f"{secret!r}{secret}{secret.hide('a sk-very-secret b')}"
    with pytest.raises(TypeError, match="not written anywhere"):
        pickle.dumps(secret)
