"""What a page hides from whoever has a narrow screen, or no mouse."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

WIDTH = 390
_HIDDEN = """() => {
  const width = document.documentElement.clientWidth, found = [];
  const how = (one) => getComputedStyle(one).overflowX;
  const scrolls = (one) => ["auto", "scroll"].includes(how(one));
  const above = (one) => { while ((one = one.parentElement)) if (scrolls(one)) return one; return null; };
  const named = (one) => one.tabIndex >= 0 && (one.ariaLabel || one.getAttribute("aria-labelledby"));
  for (const one of document.querySelectorAll("main *")) {
    if (one.parentElement.closest("svg") || !one.getClientRects().length || one.matches(".out, .unseen")) continue;
    const what = one.outerHTML.slice(0, 120), wider = one.scrollWidth > one.clientWidth + 1;
    if (!above(one) && one.getBoundingClientRect().right > width + 1) found.push(["beyond the screen", what]);
    if (wider && ["hidden", "clip"].includes(how(one))) found.push(["cut off", what]);
    if (wider && scrolls(one) && !named(one)) found.push(["not for the keyboard", what]);
  }
  return found;
}"""


def hidden(page: Page) -> list[list[str]]:
    """Return what lies beyond the screen, is cut off, or scrolls and is out of reach of a keyboard, and why."""
    found: list[list[str]] = page.evaluate(_HIDDEN)
    return found
