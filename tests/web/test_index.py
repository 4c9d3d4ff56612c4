"""The index: found by words and facets, with and without scripts, at addresses that can be shared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import plainly
from shelf import NAMES

from spade_envs.registry import Registry
from spade_envs.registry.overview import ask
from spade_envs.web.listing.asked import Asked

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


def twin(site: str, query: str = "") -> Any:
    answer = plainly.get(f"{site}/{query}", headers={"Accept": "application/json"})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_what_is_listed_is_what_the_command_lists(site: str, shelf: Registry) -> None:
    for query in ("", "?all=1", "?q=lamp", "?domain=games&sort=difficulty", "?steps=1..20&tools=no"):
        listed = twin(site, query)
        asked = Asked.model_validate(listed["asked"])
        wanted = ask(asked.query(), [shelf])
        assert listed["total"] == wanted.total
        found = {row["id"]: row["regret"] for row in listed["rows"]}
        assert found == {row.listed.id: row.listed.regret for row in wanted.rows}


def test_each_count_is_what_its_address_finds(site: str) -> None:
    for query in ("", "?q=the", "?status=active"):
        facets = {facet["name"]: facet["choices"] for facet in twin(site, query)["facets"]}
        assert {"domain", "skill", "status", "difficulty", "regret", "steps", "tools", "origin"} <= set(
            facets
        )
        for choices in facets.values():
            for choice in choices:
                if not choice["chosen"]:
                    assert twin(site, choice["address"][1:])["total"] == choice["versions"], choice


def test_an_unknown_word_names_the_nearest(site: str) -> None:
    page = plainly.get(f"{site}/?skill=planing").text
    assert 'href="/?skill=planning"' in page
    assert "did you mean games" in plainly.get(f"{site}/?domain=gams").text


def test_by_keyboard_to_a_page_that_can_be_shared(tab: Page, browser: Browser, site: str) -> None:
    tab.goto("/")
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.textContent") == "Skip to the page"
    tab.locator("#q").press_sequentially("maze")
    tab.wait_for_url("**/?q=maze")
    tab.get_by_role("link", name="Maze key").wait_for()
    assert tab.evaluate("document.activeElement.id") == "q"
    tab.locator("#facets").get_by_role("link", name="games").click()
    tab.wait_for_url("**/?q=maze&domain=games")
    tab.get_by_role("link", name="table").click()
    tab.wait_for_url("**view=table")
    address, shown = tab.url, tab.locator("#found").inner_text()
    with browser.new_context(java_script_enabled=False) as other:
        page = other.new_page()
        page.goto(address)
        assert page.locator("#found").inner_text() == shown
    tab.go_back()
    tab.locator("ul.cards").wait_for()


def test_without_scripts_all_can_be_read(browser: Browser, site: str) -> None:
    with browser.new_context(base_url=site, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto("/")
        page.locator("#q").fill("lamp")
        page.get_by_role("button", name="Search").click()
        assert page.locator("#found h2").all_inner_texts() == ["Lamp row"]
        page.get_by_role("link", name="Lamp row").click()
        for part in ("Source", "Admission", "Measured", "History", "Lineage", "Neighbours", "Changes"):
            page.get_by_role("link", name=part, exact=True).first.click()
            assert page.locator("nav.tabs [aria-current]").inner_text() == part
        assert page.locator("#theme").is_hidden()


def test_pages_follow_each_other(site: str, monkeypatch: Any) -> None:
    monkeypatch.setattr("spade_envs.web.listing.asked.PER_PAGE", 2)
    monkeypatch.setattr("spade_envs.web.listing.shown.PER_PAGE", 2)
    seen, address = [], "/"
    while address:
        listed = twin(site, address[1:])
        seen += [row["id"] for row in listed["rows"]]
        assert len(listed["rows"]) <= 2
        address = listed["next"]
    assert [one.removeprefix("spade/").partition("-")[0] for one in seen] == sorted(NAMES)
    beyond = twin(site, "?page=99")
    assert beyond["rows"] == []
    assert beyond["previous"] == "/?page=3"
