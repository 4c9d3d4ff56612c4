"""The index: found by words and facets, with and without scripts, at addresses that can be shared."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import plainly
import pytest
from shelf import NAMES, publish

from spade_envs.records import Measured
from spade_envs.registry import Registry, keep_round
from spade_envs.registry.overview import ask
from spade_envs.registry.status import change
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


def test_what_changes_shows_on_the_next_page(serve: Callable[..., str], tmp_path: Path) -> None:
    registry = Registry(tmp_path / "registry")
    env_id = publish(registry, "LampRow")
    address = serve(stack=[registry])
    for number, status in enumerate(("retired", "active")):
        change([env_id], status, f"reason {number}", registry)  # type: ignore[arg-type]
        success = 0.25 * (number + 1)
        keep_round(registry, "run", number, measured=[Measured(env_id, "run", number, 8, 8, success=success)])
        for view in ("cards", "table", "cards"):
            page = plainly.get(f"{address}/?view={view}").text
            assert f'<span class="status {status}">' in page
            assert f"success lately: {', '.join(('0.25', '0.50')[: number + 1])}" in page


def test_of_changes_in_one_second_the_last_is_told(serve: Callable[..., str], tmp_path: Path) -> None:
    registry = Registry(tmp_path / "registry")
    env_id = publish(registry, "LampRow")
    for number in range(6):
        change([env_id], ("retired", "active")[number % 2], f"reason {number}", registry)  # type: ignore[arg-type]
    told = plainly.get(f"{serve(stack=[registry])}/environments/LampRow?format=json").json()
    assert told["head"]["reason"] == "reason 5"
    assert [one["reason"] for one in told["changes"]][:6] == [
        f"reason {number}" for number in range(5, -1, -1)
    ]


def test_every_value_of_a_facet_can_be_reached(tab: Page, site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    every = next(
        facet["choices"] for facet in twin(site, "?more=skill")["facets"] if facet["name"] == "skill"
    )
    monkeypatch.setattr("spade_envs.web.listing.facets.MOST", 2)
    few = next(facet for facet in twin(site, "?q=the")["facets"] if facet["name"] == "skill")
    assert (len(few["choices"]), few["more"], few["fewer"]) == (2, "/?q=the&more=skill", None)
    tab.goto("/")
    tab.get_by_role("link", name=f"{len(every) - 2} more of Skill").click()
    tab.wait_for_url("**/?more=skill")
    for choice in every:
        link = tab.locator(f'#facets a[href^="/?skill={choice["value"].replace(" ", "+")}&"]')
        assert link.inner_text() == choice["text"]
    tab.get_by_role("link", name="fewer of Skill").click()
    tab.wait_for_url(f"{site}/")
    assert tab.get_by_role("link", name="more of Skill").count() == 1


def test_more_values_than_a_page_bears_are_said(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spade_envs.web.listing.facets.MOST", 2)
    monkeypatch.setattr("spade_envs.web.listing.facets.ALL", 3)
    whole = next(facet for facet in twin(site, "?more=skill")["facets"] if facet["name"] == "skill")
    assert (len(whole["choices"]), whole["more"], whole["fewer"]) == (3, None, "/")
    assert f"{whole['hidden']} more: search for their words" in plainly.get(f"{site}/?more=skill").text


@pytest.mark.parametrize(
    ("path", "text", "current"),
    [
        ("/", "Environments", "page"),
        ("/?q=lamp", "Environments", "page"),
        ("/environments/LampRow", "Environments", "true"),
        ("/environments/LampRow/source", "Environments", "true"),
        ("/play", "Play", "page"),
        ("/play/LampRow", "Play", "true"),
        ("/replay/LampRow?seed=1", "Replay", "true"),
        ("/runs", "Runs", "page"),
    ],
)
def test_the_navigation_says_where_one_is(site: str, path: str, text: str, current: str) -> None:
    page = plainly.get(site + path, follow_redirects=True).text
    navigation = page[page.index('<nav aria-label="Pages">') : page.index("</nav>")]
    assert f'aria-current="{current}">{text}</a>' in navigation
    assert navigation.count("aria-current") == 1
