"""The guard: who may ask, from where, how much and how often."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import httpx2
import plainly
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.types import Message

from spade_envs.errors import UsageError
from spade_envs.registry import Registry
from spade_envs.web import Rate, WebSettings
from spade_envs.web.entrance import local
from spade_envs.web.guard import bodies
from spade_envs.web.guard.origin import foreign, own_host
from spade_envs.web.guard.rates import MOST_CLIENTS, Buckets
from spade_envs.web.guard.sessions import Seal

TOKEN = "a token that is long enough"


@pytest.fixture(scope="module")
def guarded(shelf: Registry) -> Iterator[str]:
    from servers import UNLIMITED, serving

    with serving(WebSettings(stack=[shelf], token=TOKEN, sign_in_rate=UNLIMITED)) as address:
        yield address


def alone(waiting: Awaitable[Any]) -> Any:
    """Run a coroutine in a thread: in this one the browser's driver has a loop that runs already."""

    async def whole() -> Any:
        return await waiting

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, whole()).result()


def csrf(page: str) -> str:
    return re.findall(r'name="csrf_token" value="([0-9a-f]+)"', page)[0]


@pytest.mark.parametrize(
    ("host", "bound", "own"),
    [
        ("127.0.0.1:8400", "127.0.0.1", True),
        ("localhost", "127.0.0.1", True),
        ("[::1]:80", "::1", True),
        ("127.8.9.1:1", "127.0.0.1", True),
        ("evil.example", "127.0.0.1", False),
        ("127.0.0.1.evil.example", "127.0.0.1", False),
        ("localhost.evil.example", "127.0.0.1", False),
        ("evil.example@127.0.0.1", "127.0.0.1", False),
        ("", "127.0.0.1", False),
        ("[::1", "::1", False),
    ],
)
def test_a_name_that_was_made_to_point_here_is_not_answered(host: str, bound: str, own: bool) -> None:
    assert own_host(host, bound) is own


@given(st.text(max_size=40))
def test_any_host_is_judged(host: str) -> None:
    assert own_host(host, "127.0.0.1") in (True, False)


@pytest.mark.parametrize(
    ("method", "headers", "is_foreign"),
    [
        ("GET", {}, False),
        ("POST", {}, False),
        ("POST", {"origin": "http://h:1"}, False),
        ("POST", {"origin": "http://h:2"}, True),
        ("POST", {"origin": "http://evil"}, True),
        ("POST", {"origin": "null"}, True),
        ("POST", {"origin": "http://[", "sec-fetch-site": "same-origin"}, True),
        ("POST", {"sec-fetch-site": "cross-site"}, True),
        ("POST", {"sec-fetch-site": "same-site"}, True),
        (
            "POST",
            {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"},
            True,
        ),
        (
            "GET",
            {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"},
            False,
        ),
        (
            "GET",
            {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"},
            True,
        ),
        (
            "GET",
            {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"},
            True,
        ),
        ("GET", {"sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"}, False),
    ],
)
def test_another_sites_page_may_only_link(method: str, headers: dict[str, str], is_foreign: bool) -> None:
    assert foreign(method, {"host": "h:1", **headers}) is is_foreign


def test_another_sites_page_is_refused(site: str) -> None:
    for headers in ({"Host": "evil.example"}, {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}):
        answer = plainly.get(f"{site}/", headers={**headers, "Accept": "application/json"})
        assert answer.status_code in (403, 421)
        assert answer.headers["content-type"] == "application/problem+json"


@given(st.text(max_size=80), st.text(max_size=20))
def test_no_cookie_but_the_servers_own_is_a_session(cookie: str, end: str) -> None:
    seal = Seal()
    own = seal.cookie(seal.new(signed_in=True))
    assert seal.read(cookie) is None
    assert seal.read(own) == seal.new(own.split(".")[0], signed_in=True)
    assert seal.read(own + end) is None or not end
    assert seal.read(own.replace(".1.", ".0.")) is None
    assert Seal().read(own) is None


@given(st.lists(st.tuples(st.floats(0, 3), st.sampled_from("ab"))))
def test_an_address_has_its_burst_and_its_rate(steps: list[tuple[float, str]]) -> None:
    now = 0.0
    buckets = Buckets(Rate(per_second=2, burst=3), clock=lambda: now)
    allowed: dict[str, list[float]] = {"a": [], "b": []}
    for pause, client in steps:
        now += pause
        wait = buckets.wait(client)
        assert 0 <= wait <= 0.5
        if not wait:
            allowed[client].append(now)
    for times in allowed.values():
        for first in range(len(times)):
            for last in range(first, len(times)):
                assert last - first + 1 <= 3 + 2 * (times[last] - times[first]) + 1e-6


def test_of_many_addresses_the_oldest_is_forgotten() -> None:
    buckets = Buckets(Rate(per_second=1, burst=1))
    for number in range(MOST_CLIENTS + 10):
        buckets.wait(str(number))
    assert len(buckets._left) == MOST_CLIENTS


@settings(max_examples=40)
@given(st.lists(st.binary(max_size=30), max_size=20), st.integers(0, 100))
def test_a_body_is_whole_and_small_or_none(parts: list[bytes], limit: int) -> None:
    messages: list[Message] = [{"type": "http.request", "body": part, "more_body": True} for part in parts]
    messages.append({"type": "http.request"})

    async def receive() -> Message:
        return messages.pop(0)

    whole = b"".join(parts)
    if len(whole) > limit:
        with pytest.raises(bodies.TooLargeError):
            alone(bodies.read(receive, limit))
    else:
        assert alone(bodies.read(receive, limit)) == whole
        assert alone(bodies.again(whole, receive)())["body"] == whole


def test_who_asks_too_often_waits(serve: Callable[..., str], shelf: Registry) -> None:
    address = serve(hurried=False, stack=[shelf], rate=Rate(per_second=0.01, burst=3))
    answers = [plainly.get(f"{address}/health") for _ in range(5)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
    assert int(answers[-1].headers["retry-after"]) > 1


def test_a_head_is_that_of_the_page(site: str) -> None:
    for path in ("/", "/?format=json", "/environments/LampRow", "/static/style.css", "/health", "/nothing"):
        page, head = plainly.get(site + path), plainly.head(site + path)
        names = ("content-type", "content-length", "content-security-policy")
        assert head.status_code == page.status_code, path
        assert [head.headers[name] for name in names] == [page.headers[name] for name in names], path
        assert head.content == b""


def test_without_the_token_nothing_is_seen(guarded: str) -> None:
    for path in ("/", "/?format=json", "/environments/LampRow", "/openapi.json", "/nothing"):
        page = plainly.get(guarded + path)
        told = plainly.get(guarded + path, headers={"Accept": "application/json"})
        assert (page.status_code, told.status_code) == (
            401 if "json" in path and "format" in path else 303,
            401,
        )
        assert "Lamp row" not in page.text + told.text
        assert told.headers["www-authenticate"] == "Bearer"
    assert plainly.get(f"{guarded}/health").status_code == 200
    assert plainly.get(f"{guarded}/static/style.css").status_code == 200


def test_a_program_says_the_token_in_a_header(guarded: str) -> None:
    for said, status in ((TOKEN, 200), (TOKEN[:-1], 401), (TOKEN + "x", 401), ("\xff", 401)):
        headers = {"Authorization": f"Bearer {said}".encode("latin-1"), "Accept": b"application/json"}
        assert plainly.get(f"{guarded}/", headers=headers).status_code == status


def test_a_visitor_signs_in_and_is_led_on(guarded: str) -> None:
    with httpx2.Client(verify=False, base_url=guarded, follow_redirects=True) as visitor:
        page = visitor.get("/environments/LampRow?x=1")
        assert urlsplit(str(page.url)).path == "/sign-in"
        form = {"csrf_token": csrf(page.text), "to": "/environments/LampRow?x=1"}
        wrong = visitor.post("/sign-in", data={**form, "token": "wrong"})
        assert (wrong.status_code, "not the token" in wrong.text) == (401, True)
        before = dict(visitor.cookies)
        right = visitor.post("/sign-in", data={**form, "token": TOKEN})
        assert (right.status_code, str(right.url)) == (200, f"{guarded}/environments/LampRow?x=1")
        assert "Lamp row" in right.text
        assert (
            dict(visitor.cookies) != before
        )  # a session that somebody knew before is not the one that is signed in
        cookie = right.history[0].headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Lax" in cookie


def test_a_form_without_the_sessions_token_is_refused(guarded: str) -> None:
    with (
        httpx2.Client(verify=False, base_url=guarded) as visitor,
        httpx2.Client(verify=False, base_url=guarded) as other,
    ):
        own, others = (csrf(one.get("/sign-in").text) for one in (visitor, other))
        for field, status in (({}, 403), ({"csrf_token": others}, 403), ({"csrf_token": own}, 303)):
            answer = visitor.post("/sign-in", data={**field, "token": TOKEN})
            assert answer.status_code == status


def test_guessing_is_slow(serve: Callable[..., str], shelf: Registry) -> None:
    address = serve(stack=[shelf], token=TOKEN)
    with httpx2.Client(verify=False, base_url=address) as visitor:
        form = {"csrf_token": csrf(visitor.get("/sign-in").text), "token": "wrong"}
        statuses = [visitor.post("/sign-in", data=form).status_code for _ in range(7)]
    assert statuses == [401] * 5 + [429] * 2


def test_guessing_in_a_header_is_as_slow(serve: Callable[..., str], shelf: Registry) -> None:
    address = serve(stack=[shelf], token=TOKEN)

    def asked(said: str) -> int:
        return plainly.get(address, headers={"Authorization": said, "Accept": "application/json"}).status_code

    assert [asked(f"Bearer guess{n}") for n in range(7)] == [401] * 5 + [429] * 2
    assert asked(f"Bearer {TOKEN}") == 200
    assert asked("Basic of-a-proxy") == 401


@given(st.text(max_size=30))
def test_one_is_led_to_this_server_only(there: str) -> None:
    for address in (there, f"/{there}", f"//{there}", f"/\\{there}", f"/\t/{there}", f"https://{there}"):
        led = local(address)
        assert led.startswith("/")
        assert not led.startswith(("//", "/\\", "/\t"))


def test_an_address_that_others_reach_needs_a_token() -> None:
    for host in ("0.0.0.0", "192.168.1.2", "::", "example.org"):
        with pytest.raises(UsageError, match="SPADE_WEB_TOKEN"):
            WebSettings(host=host)
        WebSettings(host=host, token=TOKEN)
    with pytest.raises(UsageError, match="too short"):
        WebSettings(token="short")
    assert TOKEN not in repr(WebSettings(token=TOKEN))
