"""The report: whole, alone in its file, and of texts that strangers wrote nothing but text."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from run_stories import HEALTHY, config, episode, tell

from spade_train.cli import main
from spade_train.report.figures import final
from spade_train.report.page import html_of, report_of
from spade_train.report.pictures import PICTURES
from spade_train.report.reading import RunReader, read_run
from spade_train.report.tables import Table
from spade_train.runs.folder import RunFolder

EVIL = "</span></pre><script>alert(1)</script><img src=x onerror=alert(2)>\x1b[31m\u202e{{ 7*7 }}"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return tell(tmp_path_factory.mktemp("page") / "mine", replace(HEALTHY, rounds=8, compiles=0.3))


@pytest.fixture(scope="module")
def page(run: RunFolder) -> str:
    return html_of(report_of(RunReader(run)))


class Tags(HTMLParser):
    """Every tag with its attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_the_page_needs_nothing_but_itself(page: str) -> None:
    tags = Tags(page).found
    assert not {"script", "link", "iframe", "img", "object", "form"} & {tag for tag, _ in tags}
    for _, attributes in tags:
        for name, value in attributes.items():
            assert not name.startswith("on")
            assert name not in ("src", "style")
            assert name != "href" or (value or "").startswith("#")
    ids = [attributes["id"] for _, attributes in tags if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_every_chart_and_the_finding_are_there(page: str) -> None:
    assert [name for name in PICTURES if f'id="chart-{name}"' not in page] == []
    first = page.index("compile and run; most are lost")
    assert first < page.index('id="figures"')
    assert "--max_repairs" in page


def test_a_page_is_light(page: str) -> None:
    assert len(page.encode()) < 250_000


def test_what_strangers_wrote_is_text(tmp_path: Path) -> None:
    run = tell(tmp_path / "evil <b>name", replace(HEALTHY, rounds=2))
    for hinted in (False, True):
        run.append(
            "episodes.jsonl", [episode(1, "spade/<script>alert(3)</script>-v0", hinted, EVIL) | {"end": EVIL}]
        )
    changed = config(HEALTHY) | {"model": EVIL, "preset": EVIL, "flags": [f"--{EVIL}"]}
    run.write_config(changed)
    run.append("faults.jsonl", [{"round": 1, "kind": EVIL, "error": EVIL}])
    text = html_of(report_of(RunReader(run), drawn=False))
    assert "<script" not in text
    assert "<img" not in text
    assert "\u202e" not in text
    assert "\x1b" not in text
    assert "alert(3)" in text
    assert "49" not in re.findall(r"\{\{ 7\*7 \}\}|>49<", text)


def test_a_run_of_nothing_has_a_report(tmp_path: Path) -> None:
    run = RunFolder.create(tmp_path, "empty")
    run.write_config(config(HEALTHY))
    text = html_of(report_of(RunReader(run)))
    assert "There is too little on record to say" in text
    assert text.count("nothing to show yet") == len(PICTURES)


def test_the_command(run: RunFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "page.html"
    main(["report", str(run.path), "--out", str(out)])
    said = capsys.readouterr().out
    assert said.startswith("designer holds it back: Only")
    assert f"report  {out}" in said
    assert out.read_text().startswith("<!doctype html>")
    main(["report", str(run.path)])
    assert (run.path / "report.html").is_file()
    assert [path.name for path in run.path.iterdir() if path.name.startswith("tmp")] == []
    capsys.readouterr()
    main(["report", str(run.path), "--json"])
    data = json.loads(capsys.readouterr().out)
    assert data["holds_back"] == "designs"
    assert len(data["tables"]["rounds"]) == 8
    assert {one["name"] for one in data["figures"]} >= {"success, last rounds", "heldout: success"}


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["nowhere"], 2),
        ([], 2),
        (["RUN", "--out", "nowhere/page.html"], 2),
        (["RUN", "--out", "."], 2),
        (["."], 2),
    ],
)
def test_wrong_use_is_said(
    words: list[str],
    code: int,
    run: RunFolder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as left:
        main(["report", *(str(run.path) if word == "RUN" else word for word in words)])
    assert left.value.code == code
    error = capsys.readouterr().err
    assert error.startswith("spade-train: ")
    assert "Traceback" not in error
    assert list(tmp_path.iterdir()) == []


def test_it_opens_the_page(
    run: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    main(["report", str(run.path), "--out", str(tmp_path / "a b.html"), "--open"])
    assert opened == [(tmp_path / "a b.html").as_uri()]


def test_figures_have_intervals_that_hold_them(run: RunFolder) -> None:
    found = {one.name: one for one in final(read_run(run))}
    for one in found.values():
        if one.value is not None:
            assert one.value.low <= one.value.value <= one.value.high, one
    assert found["designs that compile and run"].of == "32 designs"
    assert "heldout: gain" not in found, "there is no gain over the beginning at the beginning"


cells = st.lists(st.text(max_size=12), min_size=2, max_size=2)


@settings(max_examples=40)
@given(st.lists(cells, min_size=1, max_size=4))
def test_tables_keep_their_shape_whatever_they_hold(rows: list[list[str]]) -> None:
    table = Table("t", ("a", "b"), tuple((one, other) for one, other in rows))
    markdown = table.markdown().splitlines()
    assert len(markdown) == len(rows) + 2
    for line in markdown:
        assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == 3
    read = list(csv.reader(io.StringIO(table.csv())))
    assert [len(row) for row in read] == [2] * (len(rows) + 1)
    assert not any(re.match(r"[=+@]|-(?![\d.])", cell) for row in read for cell in row if not _number(cell))
    latex = table.latex().splitlines()
    assert len(latex) == len(rows) + 6
    for line in latex[2 : 4 + len(rows)]:
        assert not re.search(r"(?<!\\)[%$#_]", line)


def _number(cell: str) -> bool:
    return re.match(r"[+-][\d.]", cell) is not None


def test_numbers_stay_numbers_in_a_sheet() -> None:
    table = Table("t", ("a", "b"), (("=1+1", "-0.5"), ("@x", "+0.25")))
    assert table.csv() == "a,b\n'=1+1,-0.5\n'@x,+0.25\n"
    assert table.markdown() == "| a | b |\n| --- | ---: |\n| =1+1 | -0.5 |\n| @x | +0.25 |\n"
    assert r"\begin{tabular}{lr}" in table.latex()
