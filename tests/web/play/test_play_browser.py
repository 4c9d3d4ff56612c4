"""Games and replays in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plainly
import pytest
from play_designs import MARKUP

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


def experts(site: str, name: str, seed: int) -> list[str]:
    steps = plainly.get(f"{site}/replay/{name}?seed={seed}&format=json").json()["steps"]
    return [step["said"] for step in steps[1:]]


def at_turn(page: Page, number: int) -> None:
    page.locator(f"#now:has-text('Turn {number} of')").wait_for()


def test_words_are_played_to_a_win_by_keyboard_alone(tab: Page, site: str) -> None:
    tab.goto("/play/WordSorter?seed=2")
    for number, words in enumerate(experts(site, "WordSorter", 2), 1):
        assert tab.evaluate("document.activeElement.id") == "said"
        tab.keyboard.type(words)
        tab.keyboard.press("Control+Enter")
        at_turn(tab, number)
    assert tab.inner_text("#ending") == "Won: the goal was reached."
    assert tab.evaluate("document.activeElement.id") == "ending"
    assert "Won: the goal was reached." in tab.inner_text("#live")
    tab.keyboard.press("n")
    tab.wait_for_url("**/play/WordSorter-v0?*seed=3")


def test_numbers_are_played_to_a_win_by_keyboard_alone(tab: Page, site: str) -> None:
    arrows = {"north": "ArrowUp", "south": "ArrowDown", "west": "ArrowLeft", "east": "ArrowRight"}
    tab.goto("/play/MazeKey?seed=5")
    for number, word in enumerate(experts(site, "MazeKey", 5), 1):
        tab.keyboard.press(arrows[word])
        at_turn(tab, number)
        assert tab.inner_text("#observation").split()[-1] in tab.inner_text("#live")
        assert tab.inner_text("#return") in tab.inner_text("#live")
    assert tab.inner_text("#ending") == "Won: the goal was reached."
    assert "moves=" in tab.url


def test_help_comes_on_request_and_focus_stays(tab: Page) -> None:
    tab.goto("/play/LampRow?seed=1")
    tab.keyboard.press("h")
    tab.locator("#hint").wait_for()
    assert tab.evaluate("document.activeElement.id") == "ask-hint"
    tab.keyboard.press("e")
    at_turn(tab, 1)
    assert tab.evaluate("document.activeElement.id") == "ask-expert"
    assert "1 hint asked for. 1 move by the expert." in tab.inner_text("#return")
    tab.locator("#ask-whole").click()
    tab.locator("#ending").wait_for()


def test_keys_can_be_turned_off(tab: Page) -> None:
    tab.goto("/play/LampRow?seed=2")
    tab.locator("#more summary").click()
    tab.locator("#keys").click()
    tab.keyboard.press("e")
    tab.reload()
    tab.keyboard.press("e")
    tab.wait_for_timeout(100)
    assert "Turn 0" in tab.inner_text("#now")


def test_a_numeric_action_has_a_field_for_each_part(tab: Page) -> None:
    tab.goto("/play/Fields?seed=1")
    tab.get_by_label("on 1").check()
    tab.get_by_label("to 1").fill("0.5")
    tab.get_by_label("to 2").fill("1")
    tab.keyboard.press("Enter")
    at_turn(tab, 1)
    assert "[0.5 0. ]" in tab.inner_text("#observation")
    assert tab.locator("img.picture").evaluate("it => [it.naturalWidth, it.naturalHeight]") == [4, 4]


def test_two_tabs_on_one_game_stay_sane(browser: Browser, site: str) -> None:
    with browser.new_context(base_url=site) as context:  # to Chromium a status of 409 is an error
        one, other = context.new_page(), context.new_page()
        for page in (one, other):
            page.goto("/play/Sample?seed=1")
        other.keyboard.press("ArrowLeft")
        at_turn(other, 1)
        one.keyboard.press("ArrowRight")
        at_turn(one, 1)
        assert "a page of another turn" in one.inner_text(".note")
        assert one.inner_text("#log summary") == "1 move so far"


def test_a_replay_goes_forward_and_back(tab: Page) -> None:
    tab.goto("/replay/MazeKey?seed=3&step=1")
    seen = {1: tab.inner_text("#observation")}

    def at(number: int) -> str:
        tab.locator(f"#now:has-text('Step {number} of')").wait_for()
        return tab.inner_text("#observation")

    tab.keyboard.press("ArrowRight")
    seen[2] = at(2)
    assert tab.url.endswith("step=2")
    tab.keyboard.press("ArrowRight")
    seen[3] = at(3)
    tab.keyboard.press("ArrowLeft")
    assert at(2) == seen[2] != seen[3]
    tab.keyboard.press("Home")
    at(0)
    tab.keyboard.press("End")
    last = int(tab.inner_text("#now").split()[-1])
    at(last)
    assert "the goal was reached" in tab.inner_text("#return")
    tab.locator("#scrub").fill("1")
    assert at(1) == seen[1]
    tab.go_back()


def test_a_file_is_opened(tab: Page) -> None:
    from playwright.sync_api import expect

    tab.goto("/play/Words?seed=4")
    tab.keyboard.type("hello")
    tab.keyboard.press("Enter")
    at_turn(tab, 1)
    tab.locator("#more summary").click()
    with tab.expect_download() as download:
        tab.locator("#file").click()
    tab.goto("/replay")
    tab.set_input_files("#file", download.value.path())
    expect(tab.locator("#episode")).not_to_have_value("")
    tab.get_by_role("button", name="Open").click()
    tab.wait_for_url("**/replay/Words-v0?*")
    tab.keyboard.press("End")
    tab.locator("#now:has-text('Step 1 of 1')").wait_for()
    assert "olleh" in tab.inner_text("#observation")


def test_a_hostile_design_is_text(tab: Page) -> None:
    tab.goto("/play/Hostile?seed=1")
    assert tab.inner_text("#observation").strip() == MARKUP
    tab.keyboard.press("h")
    tab.locator("#hint").wait_for()
    tab.keyboard.press("3")
    at_turn(tab, 1)
    tab.goto("/play")
    tab.goto("/replay/Hostile?seed=1&step=1")
    assert tab.inner_text("#observation").strip() == MARKUP
    assert tab.locator("main script, main img").count() == 0


def test_a_design_that_hangs_is_a_page_that_says_so(tab: Page) -> None:
    tab.goto("/play/Hangs?seed=2")
    tab.keyboard.press("5")
    tab.locator("#ending").wait_for()
    assert tab.inner_text("#ending").startswith("Stopped: timeout")
    tab.locator("#resume").click()
    tab.locator("#choices").wait_for()


def test_games_and_replays_need_no_script(browser: Browser, site: str) -> None:
    with browser.new_context(base_url=site, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto("/play/LampRow?seed=4")
        page.locator("#choice-1").click()
        page.locator("#now:has-text('Turn 1 of 12')").wait_for()
        page.fill("#said", "2")
        page.keyboard.press("Enter")
        page.locator("#now:has-text('Turn 2 of 12')").wait_for()
        page.locator("#ask-hint").click()
        page.locator("#hint").wait_for()
        page.goto("/replay/LampRow?seed=4")
        page.locator("#forward").click()
        page.locator("#now:has-text('Step 1 of')").wait_for()
        page.locator("#scrub").fill("0")
        page.get_by_role("button", name="Go").click()
        page.locator("#now:has-text('Step 0 of')").wait_for()


def wrong(page: Page, axe: str, path: str) -> list[tuple[str, list[str]]]:
    """What keeps people from using a page."""
    page.goto(path)
    page.evaluate(axe)
    found = page.evaluate("axe.run()")
    return [(one["id"], [node["html"] for node in one["nodes"]]) for one in found["violations"]]


def test_nothing_keeps_people_from_using_them(tab: Page, axe: str) -> None:
    for path in ("/play/Fields?seed=1&moves=%5B%22x%22%5D", "/replay/MazeKey?seed=1"):
        assert wrong(tab, axe, path) == [], path


@pytest.mark.soak
def test_nothing_keeps_people_from_using_the_others(tab: Page, axe: str) -> None:
    paths = ["/play/StockRoom?seed=1", "/play/MazeKey?seed=1", "/play/Hostile?seed=1", "/play", "/replay"]
    for path in paths:
        assert wrong(tab, axe, path) == [], path
