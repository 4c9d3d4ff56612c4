"""axe-core finds nothing serious on any page, by day and by night, on a desk and in a hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import pytest
from narrow import WIDTH, hidden

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PAGES = (
    *(
        "/",
        "/?view=table&all=1&q=lamp",
        "/?domain=games&steps=1..20",
        "/?q=nothing+of+this",
        "/?domain=none",
        "/sign-in",
    ),
    *("/environments/LampRow", "/environments/AfterSales/spaces", "/environments/LampRow/source"),
    *("/environments/LampRow/diff", "/environments/PendulumLab/admission", "/environments/LampRow/measured"),
    *(
        "/environments/LampRow-v0/lineage",
        "/environments/LampRow-v0/history",
        "/environments/LampRow/neighbours",
    ),
)
RUN = """async (rules) => (await axe.run(document, {resultTypes: ["violations"], ...rules})).violations
  .filter((one) => ["serious", "critical"].includes(one.impact))
  .map((one) => [one.id, one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160))])"""


EVERYTHING: dict[str, Any] = {}
COLOURS = {"runOnly": ["color-contrast"]}
"""What else there is to find is the same by night."""


@pytest.mark.parametrize(
    ("scheme", "width", "rules", "pages"),
    [
        ("light", 1280, EVERYTHING, PAGES),
        ("dark", 1280, COLOURS, PAGES[::2]),
        ("light", 360, EVERYTHING, PAGES[::7]),
    ],
)
def test_nothing_serious(
    browser: Browser,
    site: str,
    axe: str,
    scheme: Literal["light", "dark"],
    width: int,
    rules: dict[str, Any],
    pages: tuple[str, ...],
) -> None:
    found: dict[str, Any] = {}
    screen = {"width": width, "height": 800}
    with browser.new_context(base_url=site, color_scheme=scheme, viewport=screen, bypass_csp=True) as context:
        context.add_init_script(axe)
        page = context.new_page()
        for address in pages:
            page.goto(address)
            found[address] = page.evaluate(RUN, rules)
            wide = page.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            assert wide <= 0, (address, "is wider than the screen")
        page.evaluate("document.querySelector('h1').style.color = 'light-dark(#eee, #222)'")
        assert "color-contrast" in str(page.evaluate(RUN, rules)), "this would be seen"
    assert {address: said for address, said in found.items() if said} == {}


def test_on_a_narrow_screen_all_can_be_reached(browser: Browser, site: str) -> None:
    seen = 0
    with browser.new_context(base_url=site, viewport={"width": WIDTH, "height": 800}) as context:
        page = context.new_page()
        pages = (one for one in PAGES if "/environments/" in one or "view=table" in one)
        for address in (*pages, "/play/LampRow?seed=0", "/play/PendulumLab?seed=0", "/replay/LampRow?seed=0"):
            page.goto(address)
            assert hidden(page) == [], address
            seen += page.evaluate(
                "[...document.querySelectorAll('.scroll')].filter((x) => x.scrollWidth > x.clientWidth).length"
            )
        assert seen >= 4, "there are wide tables"
        page.goto("/environments/LampRow/measured")
        page.locator(".scroll").focus()
        for _ in range(3):
            page.keyboard.press("ArrowRight")
        for _ in range(200):  # Playwright's own waiting evaluates text, which the page's policy forbids
            if page.evaluate("document.querySelector('.scroll').scrollLeft") > 0:
                break
            page.wait_for_timeout(20)
        else:
            pytest.fail("the keys scroll no table")
        page.evaluate("document.querySelector('.scroll').removeAttribute('tabindex')")
        assert [why for why, _ in hidden(page)] == ["not for the keyboard"], "this would be seen"
        page.evaluate("document.querySelector('.scroll').className = ''")
        assert [why for why, _ in hidden(page)] >= ["beyond the screen"] * 3, "and this"
