"""The frame: every page has its JSON, its headers, its errors; a browser can use it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plainly

from spade_envs.web.guard.headers import SAFE

if TYPE_CHECKING:
    from playwright.sync_api import Page


def test_each_answer_carries_the_safe_headers(site: str) -> None:
    for path in ("/", "/health", "/nothing", "/static/style.css", "/openapi.json"):
        answer = plainly.get(site + path)
        assert {name: answer.headers.get(name) for name in SAFE} == SAFE, path


def test_a_page_is_json_where_that_is_asked_for(site: str) -> None:
    asked = plainly.get(f"{site}/", headers={"Accept": "application/json"}).json()
    assert asked == plainly.get(f"{site}/?format=json").json()
    assert "<html" in plainly.get(f"{site}/", headers={"Accept": "text/html, application/json"}).text


def test_the_theme_is_kept(tab: Page) -> None:
    tab.goto("/")
    before = tab.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    tab.locator("#theme").click()
    tab.goto("/environments/LampRow")
    assert tab.evaluate("getComputedStyle(document.documentElement).backgroundColor") != before
