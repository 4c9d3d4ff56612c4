"""Pages of training runs: what a folder says, live within two seconds, beside others, and hostile texts are texts."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import httpx2
import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
from narrow import WIDTH, hidden
from playwright.sync_api import expect
from run_stories import HEALTHY, config, episode, tell
from servers import serving

import spade_envs.web.app as app
from spade_envs.registry import Registry
from spade_envs.web import WebSettings
from spade_train.report.pictures import TITLES
from spade_train.report.reading import RunReader, read_run
from spade_train.runs.folder import RunFolder
from spade_train.web import pages
from spade_train.web.comparing import compare, differing
from spade_train.web.episodes import episodes
from spade_train.web.progress import progress, said

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

EVIL = "</td></table><script>document.title = 'taken'</script><img src=/x onerror=\"document.title='taken'\">\u202e"
STRANGE = "run & <i>\"'%2f #?"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    tell(folder / "first", replace(HEALTHY, rounds=12))
    tell(folder / "second", replace(HEALTHY, rounds=15, compiles=0.3), seed=1)
    second = RunFolder(folder / "second")
    changed = config(HEALTHY)
    changed["grpo"]["learning_rate"] = 1e-4
    second.write_config(changed)
    evil = tell(folder / STRANGE, replace(HEALTHY, rounds=2))
    for hinted in (False, True):
        evil.append("episodes.jsonl", [episode(1, f"spade/{EVIL}-v0", hinted, EVIL) | {"end": EVIL}])
    evil.write_config(config(HEALTHY) | {"model": EVIL, "preset": EVIL, "flags": [f"--{EVIL}"]})
    told = dict.fromkeys(("piece", "what", "why"), EVIL)
    evil.append("contexts.jsonl", [{"round": 1, "reasons": [told], "prompt_tokens": EVIL}])
    design = {"round": 1, "slot": EVIL, "compiled": False, "refusal": EVIL, "reply": EVIL, "source": EVIL}
    evil.append("designs.jsonl", [design | {"findings": [{"rule": EVIL}]}])
    line = json.loads((evil.path / "rounds.jsonl").read_text().splitlines()[-1])
    line |= {"alarms": [EVIL], "admitted": [EVIL], "skipped": EVIL}
    evil.append("rounds.jsonl", [line])
    (folder / "a model").mkdir()
    (folder / "a model" / "config.json").write_text('{"model_type": "llama"}')
    return folder


@pytest.fixture(scope="module")
def site(shelf: Registry, runs: Path) -> Iterator[str]:
    """A server of these runs; this package's pages once, whether it is installed with them or not."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app, "of_other_packages", lambda: [pages])
        with serving(WebSettings(stack=[shelf], runs=runs)) as address:
            yield address


def get(address: str, **more: Any) -> httpx2.Response:
    return httpx2.get(address, timeout=60, verify=False, **more)


def paths(name: str) -> list[str]:
    root = f"/runs/{quote(name, safe='')}"
    parts = ["", "/report", "/episodes", "/rounds/1", "/rounds/2", "/charts/success", "/charts/funnel"]
    return [root + part for part in parts]


def test_every_page_is_data_too(site: str) -> None:
    for path in ("/runs", *paths("first"), "/compare?run=first&run=second"):
        page = get(site + path)
        assert page.status_code == 200, path
        assert page.headers["content-type"].startswith("text/html")
        twin = get(site + path, headers={"Accept": "application/json"})
        assert twin.json(), path
    known = get(f"{site}/openapi.json").json()["paths"]
    assert {"/runs", "/runs/{name}", "/compare", "/runs/{name}/report"} <= set(known)


def test_the_list(site: str, runs: Path) -> None:
    data = get(f"{site}/runs?format=json").json()
    assert {one["name"] for one in data["runs"]} == {"first", "second", STRANGE}
    page = get(f"{site}/runs").text
    assert 'class="sparkline"' in page
    assert f'href="/runs/{quote(STRANGE, safe="/")}"' in page


def test_a_run_as_data(site: str, runs: Path) -> None:
    data = get(f"{site}/runs/second?format=json").json()
    facts = read_run(RunFolder(runs / "second"))
    assert (data["done"], data["holds_back"]) == (15, "designs")
    assert data["newest"]["number"] == 14
    assert data["rounds"][0]["round"] == "15"
    assert data["designer_saw"][0]["reasons"][0]["why"] == "drawn by seed 1"
    assert len(data["rounds"]) == 12
    assert data["progress"]["done"] == len(facts.rounds)
    assert get(f"{site}/runs/second/charts/success?format=svg").text.startswith("<svg")


def test_what_is_not_there_is_said(site: str) -> None:
    for path, words in (
        ("/runs/nothing", "holds no run nothing"),
        ("/runs/a%20model", "holds no run"),
        ("/runs/..%5c", "holds no run"),
        ("/runs/..%2f..%2fetc", ""),
        ("/runs/first/charts/none", "There is no chart none; there are success"),
        ("/runs/first/rounds/99", "has no round 99"),
        ("/runs/first/episodes?round=9&env=x", "no such pair"),
        ("/compare?run=first&run=nothing", "holds no run nothing"),
    ):
        answer = get(site + path, headers={"Accept": "application/json"})
        assert answer.status_code == 404, path
        assert words in answer.json()["detail"]
    for path in ("/compare", "/compare?run=first", "/compare?" + "&".join(f"run={n}" for n in range(9))):
        assert get(site + path).status_code == 400, path
    for path in ("/runs/first/rounds/x", "/runs/first/episodes?round=x", "/runs/first/episodes?round=1e9"):
        assert get(site + path).status_code == 400, path
    huge = get(f"{site}/runs/first/rounds/{10**30}")
    assert huge.status_code == 404
    assert get(f"{site}/runs/{'long' * 1000}").status_code == 404, "no machine has such a name"


def test_a_question_costs_nothing_where_nothing_was_written(site: str) -> None:
    version = get(f"{site}/runs/first?format=json").json()["version"]
    assert get(f"{site}/runs/first/now", params={"seen": version}).status_code == 204
    new = get(f"{site}/runs/first/now", params={"seen": "older"})
    assert new.headers["HX-Trigger"] == "written"
    assert version in new.text


def test_pages_weigh_little(site: str, runs: Path) -> None:
    for path in ("/runs", *paths("first"), "/compare?run=first&run=second"):
        assert len(get(site + path).content) < 250_000, path


def test_hostile_texts_are_texts(site: str, browser: Browser) -> None:
    with browser.new_context(base_url=site) as context:
        tab = context.new_page()
        complaints: list[str] = []
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        for path in ("/runs", *paths(STRANGE)[:5], f"/compare?run=first&run={quote(STRANGE, safe='')}"):
            answer = tab.goto(path)
            assert answer is not None
            assert answer.status == 200, path
            assert "taken" not in tab.title() or "document.title" in tab.title(), path
            assert tab.title() != "taken"
            assert tab.locator("main script, main img").count() == 0, path
            assert "\u202e" not in tab.content()
        tab.goto(paths(STRANGE)[0])
        drawn(tab)
        assert tab.title() != "taken"
        assert complaints == []


def test_a_chart_that_is_not_there_yet_has_its_title(site: str) -> None:
    page = get(f"{site}/runs/first").text
    for name, title in TITLES.items():
        assert f'<a href="/runs/first/charts/{name}">{title}</a>' in page


def test_on_a_narrow_screen_all_can_be_reached(site: str, browser: Browser) -> None:
    with browser.new_context(base_url=site, viewport={"width": WIDTH, "height": 800}) as context:
        tab = context.new_page()
        for path in ("/runs", *paths("first")[:5], "/compare?run=first&run=second"):
            tab.goto(path)
            tab.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
            assert hidden(tab) == [], path


def test_compared_runs_show_where_they_differ(site: str, tab: Page) -> None:
    tab.goto("/runs")
    for name in ("first", "second"):
        tab.get_by_label(f"compare {name}").check()
    tab.get_by_role("button", name="Compare").click()
    assert tab.locator("svg.chart").count() == 5
    row = tab.locator("tr", has_text="learning_rate").first.inner_text()
    assert "3e-05" in row
    assert "0.0001" in row
    assert "designs that compile and run" in tab.content()


def test_only_what_differs_is_a_row(runs: Path) -> None:
    found = {name: read_run(RunFolder(runs / name)) for name in ("first", "second")}
    assert [row[0] for row in differing(list(found.values()))] == ["learning_rate", "rounds"]
    assert differing([found["first"]] * 2) == []
    one = compare(found)
    assert one.figures.columns == ("figure", "first", "second")
    assert all(len(row) == 3 for row in one.figures.rows)


def test_episodes_are_marked_by_role_and_mask(site: str, tab: Page) -> None:
    tab.goto("/runs/first/episodes")
    assert tab.locator(".side-by-side article").count() == 2
    plain, hinted = (tab.locator(".side-by-side article").nth(at).inner_text() for at in (0, 1))
    assert "sampled, trained on" in plain
    assert "sampled, not trained on" in hinted
    assert "Hint: 4." in hinted
    tab.locator(".beginnings a").nth(3).click()
    assert "round=9" in tab.url


def test_an_episode_of_a_version_that_can_be_played_is_shown_step_by_step(
    site: str, shelf: Registry, tmp_path: Path
) -> None:
    run = tell(tmp_path / "run", replace(HEALTHY, rounds=1))
    words = "I press <answer>1</answer>"
    for hinted in (False, True):
        line = episode(5, "spade/LampRow-v0", hinted) | {"pieces": [[words, 1], ["\nturn 1", 0], [words, 1]]}
        run.append("episodes.jsonl", [line])
    page = episodes("run", (5, "spade/LampRow-v0", 1, 7), [shelf], RunReader(run))
    assert page is not None
    assert page.shown is not None
    for column in page.shown.columns:
        steps = get(f"{site}{column.replay}&format=json").json()["steps"]
        assert [step["said"] for step in steps] == [None, words, words]
        assert all(step["readable"] for step in steps)
    elsewhere = episodes("run", (5, "spade/LampRow-v0", 1, 7), [], RunReader(run))
    assert elsewhere is not None
    assert elsewhere.shown is not None
    assert [column.replay for column in elsewhere.shown.columns] == ["", ""]


@pytest.mark.parametrize("path", ["/runs", "/runs/second"])
def test_pages_are_for_everybody(path: str, site: str, browser: Browser, axe: str) -> None:
    with browser.new_context(
        base_url=site, viewport={"width": 360, "height": 740}, bypass_csp=True
    ) as context:
        page = context.new_page()
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        page.evaluate(axe)
        found = page.evaluate("axe.run({exclude: [['svg.chart']]})")["violations"]
        assert [
            (one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in ("serious", "critical")
        ] == []


WRITER = """
import json, sys, time
from pathlib import Path
sys.path[:0] = {paths!r}
from run_stories import HEALTHY, rounds
from dataclasses import replace
from spade_train.runs.folder import RunFolder
run = RunFolder(Path({run!r}))
with run.locked():
    for number, files in enumerate(rounds(replace(HEALTHY, rounds={rounds}), 3)):
        for name, lines in files.items():
            run.append(f"{{name}}.jsonl", lines)
        print(number, time.time(), flush=True)
        time.sleep({pause})
"""


def says(tab: Page, words: str) -> None:
    expect(tab.locator("#now")).to_contain_text(words, timeout=20_000)


def drawn(tab: Page) -> None:
    expect(tab.locator("svg.chart")).to_have_count(11, timeout=30_000)


def test_a_round_is_seen_within_two_seconds(runs: Path, site: str, tab: Page) -> None:
    """Another process appends rounds; the open page shows each of them in time, and that the run then ends."""
    run = RunFolder.create(runs, "growing")
    run.write_config(config(replace(HEALTHY, rounds=4)))
    folders = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]
    tab.goto("/runs/growing")
    assert "No round is on record yet" in tab.content()
    program = WRITER.format(paths=folders, run=str(run.path), rounds=4, pause=2.5)
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        late = []
        for number in range(4):
            _, at = writer.stdout.readline().split()
            says(tab, f"{number + 1} of 4 rounds")
            late.append(time.time() - float(at))
        assert sorted(late)[2] < 2, late  # three of four, on a machine that may be busy
        assert "running" in tab.locator("#now").inner_text()
        expect(tab.locator("#chart-success desc")).to_contain_text("4 points", timeout=20_000)
    says(tab, "interrupted")


def test_a_folder_that_vanishes_is_said(runs: Path, site: str, tab: Page) -> None:
    tell(runs / "mortal", replace(HEALTHY, rounds=2))
    tab.goto("/runs/mortal")
    drawn(tab)
    shutil.rmtree(runs / "mortal")
    says(tab, "is gone")
    assert tab.locator("svg.chart").count() == 11, "what was seen stays"
    assert get(f"{site}/runs/mortal").status_code == 404
    assert "mortal" not in get(f"{site}/runs").text


@pytest.mark.parametrize("harm", [str(10**400), f"-{10**400}", "1e400", "NaN", "[" * 100_000])
def test_one_strange_run_hides_no_other(
    harm: str, shelf: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numbers that no float holds, lists without an end, a name that is no text, a pipe that nobody writes to."""
    monkeypatch.setattr(app, "of_other_packages", lambda: [pages])
    strange, _ = (tell(tmp_path / name, replace(HEALTHY, rounds=2)).path for name in ("strange", "sound"))
    lines = strange / "rounds.jsonl"
    lines.write_text(
        lines.read_text() + re.sub(r"(?<=[:\[] )-?\d+(\.\d+)?(?=[,}\]])", harm, lines.read_text())
    )
    if harm.startswith("["):
        (strange / "config.json").write_text(harm)
    shutil.copytree(tmp_path / "sound", tmp_path / os.fsdecode(b"\xff"))
    for place in ("strange/alarms.jsonl", "pipe/config.json", "locked/.lock"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).unlink(missing_ok=True)
        os.mkfifo(tmp_path / place)
    (tmp_path / "locked" / "config.json").write_text('{"selfplay": {}}')
    with serving(WebSettings(stack=[shelf], runs=tmp_path)) as address:
        for path in ("/runs", *paths("strange")):
            assert get(address + path).status_code == 200, path
        assert "sound" in get(f"{address}/runs").text


def test_folders_of_no_run(shelf: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "of_other_packages", lambda: [pages])
    for folder in (tmp_path, tmp_path / "nothing"):
        with serving(WebSettings(stack=[shelf], runs=folder)) as address:
            page = get(f"{address}/runs")
            assert page.status_code == 200
            assert "holds no run" in page.text


def test_time_left(runs: Path) -> None:
    facts = read_run(RunFolder(runs / "first"))
    running = replace(facts, view=replace(facts.view, state="running", done=12, planned=20), age=30.0)
    assert progress(running).seconds_left == 8 * 75.0 - 30.0
    assert progress(running).left == "about 10 minutes left"
    assert progress(running).share == 0.6
    assert progress(facts).left == ""
    assert [said(s) for s in (5, 600, 9000, 260_000)] == ["5 seconds", "10 minutes", "2.5 hours", "3.0 days"]


def test_the_pages_need_no_torch() -> None:
    """Neither do reports: a machine that shows runs need not train them."""
    program = (
        "import sys; import spade_train.web; import spade_train.cli.report; "
        "print({'torch', 'transformers', 'trl', 'datasets', 'accelerate', 'llguidance'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
