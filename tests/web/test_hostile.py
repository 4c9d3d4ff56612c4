"""What strangers wrote is text: in a browser no script of it runs, no element is made of it, nothing is fetched."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import quote

import plainly
import pytest
from hostile import PAYLOADS, SHORT, hostile
from servers import serving
from watched import Watched

from spade_envs.web import WebSettings

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PARTS = ("", "/source", "/diff", "/spaces", "/admission", "/measured", "/history", "/lineage", "/neighbours")
PAGES = (
    *("/", "/?view=table", "/?all=1&q=script"),
    f"/?q={quote(' '.join(PAYLOADS)[:290], errors='replace')}",
    *(
        f"/?{name}={quote(PAYLOADS[1])}"
        for name in ("domain", "skill", "run", "round", "name", "difficulty", "sort")
    ),
    *(f"/environments/Hostile{part}" for part in PARTS),
    f"/environments/{quote(PAYLOADS[1])}",
    f"/environments/Hostile/diff?other={quote(PAYLOADS[2])}",
    f"/{quote(PAYLOADS[0])}",
    *("/play/Hostile?seed=0", "/replay/Hostile?seed=0"),
)
FOREIGN = """() => [...document.querySelectorAll("*")].filter((one) =>
  ["IFRAME", "IMG", "OBJECT", "EMBED", "B"].includes(one.tagName)
  || (one.tagName === "SCRIPT" && !one.src.startsWith(location.origin + "/static/"))
  || [...one.attributes].some((a) => a.name.startsWith("on") || a.value.trim().toLowerCase().startsWith("javascript:")
    || (a.name.startsWith("hx-") && a.value.includes("evil")))
  || (one.tagName === "svg" && !one.matches("[role=img], .graph[role=group]"))
).map((one) => one.outerHTML.slice(0, 200))"""


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    registry = hostile(tmp_path_factory.mktemp("hostile") / "registry")
    with serving(WebSettings(stack=[registry])) as address:
        yield address


@pytest.fixture
def open_tab(bad: str, browser: Browser) -> Iterator[tuple[Page, Watched]]:
    with browser.new_context(base_url=bad) as context:
        page = context.new_page()
        yield page, Watched(page, bad)


def test_no_script_runs_and_no_element_is_made(open_tab: tuple[Page, Watched]) -> None:
    page, watched = open_tab
    for address in PAGES:
        answer = page.goto(address)
        assert answer is not None
        assert answer.status < 500 or "/play/" in address, (address, page.inner_text("body"))
        assert page.evaluate(FOREIGN) == [], address
        assert page.evaluate("window.pwned") is None, address
    assert watched.outside == []
    assert [said for said in watched.complaints if "Failed to load resource" not in said] == []


def test_it_is_there_to_be_read(bad: str, open_tab: tuple[Page, Watched]) -> None:
    page, _ = open_tab
    page.goto("/environments/Hostile")
    shown = page.inner_text("main")
    assert all(payload in shown for payload in PAYLOADS[:-1])
    assert "\\u202egnp.exe\\u200b\\x07\\ud800" in shown  # what turns, hides or rings is spelled out
    page.goto("/")
    assert SHORT in page.inner_text("ul.cards")
    told = plainly.get(f"{bad}/environments/Hostile?format=json").json()
    assert dict(told["made_by"])["designer"] == " ".join(PAYLOADS)


def test_this_would_be_seen(open_tab: tuple[Page, Watched]) -> None:
    """The same, put into a page as markup, is what the first test looks for."""
    page, watched = open_tab
    page.goto("/")
    page.evaluate("(text) => { document.querySelector('main').innerHTML = text; }", " ".join(PAYLOADS))
    page.wait_for_timeout(200)
    assert len(page.evaluate(FOREIGN)) >= 3
    assert page.evaluate("window.pwned") is None  # the policy holds even then
    assert watched.complaints != []
