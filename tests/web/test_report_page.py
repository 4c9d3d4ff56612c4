"""The report of a run opens in a browser without any network, and is fit for everybody."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from run_stories import HEALTHY, episode, tell

from spade_train.report.page import html_of, report_of
from spade_train.report.reading import RunReader

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

EVIL = "</span><script>document.title = 'taken'</script><img src='http://127.0.0.1:9/x' onerror=alert(1)>"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    run = tell(folder / "mine", replace(HEALTHY, rounds=13, begins=(0.0, 0.03), learns=0.0, hint=0.0))
    for hinted in (False, True):
        run.append("episodes.jsonl", [episode(12, "spade/Evil-v0", hinted, EVIL)])
    out = folder / "report.html"
    out.write_text(html_of(report_of(RunReader(run))))
    return out


@pytest.mark.parametrize("dark", [pytest.param(False, marks=pytest.mark.soak), True])
def test_a_stranger_reads_it_offline(dark: bool, file: Path, browser: Browser, axe: str) -> None:
    with browser.new_context(
        offline=True, color_scheme="dark" if dark else "light", bypass_csp=True
    ) as context:  # only axe needs the policy out of its way
        page = context.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(file.as_uri())
        assert page.title() == "mine · report of a run"
        assert asked == [file.as_uri()]
        lead = page.locator("p.lead").inner_text()
        assert lead.startswith("difficulty:")
        assert "hardly ever won" in lead
        first = page.locator(".triage > li", has_text="holds the run back").first
        assert "What to try" in first.inner_text()
        assert page.locator("svg.chart").count() == 11
        grave = serious(page, axe)
        assert grave == []


def test_pasted_tables_and_episodes_are_there(file: Path, browser: Browser) -> None:
    with browser.new_context(offline=True, viewport={"width": 360, "height": 740}) as context:
        page = context.new_page()
        page.goto(file.as_uri())
        page.get_by_text("figures as Markdown").click()
        shown = page.locator("details.paste[open] pre").first.inner_text()
        assert re.match(r"\| figure \| value \|", shown)
        assert page.locator("details.pair[open] .columns > div").count() == 2
        text = page.locator("details.pair").filter(has_text="spade/Evil-v0").locator(".said").first
        assert EVIL in text.text_content()  # type: ignore[operator]
        assert page.title() == "mine · report of a run"
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 360, "nothing sticks out on a small screen"


def serious(page: Page, axe: str) -> list[str]:
    page.evaluate(axe)
    found = page.evaluate("axe.run({exclude: [['svg.chart']]})")  # test_charts.py looks into those
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:120]}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
    ]
