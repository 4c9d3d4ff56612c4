"""``spade-train report``: a run as one page, and what holds it back."""

from __future__ import annotations

import json
import webbrowser
from pathlib import Path

from rich.console import Console

from spade_envs.contract.printable import printable
from spade_envs.errors import UsageError
from spade_train.cli.words import Parser
from spade_train.runs.folder import RunFolder


def run(words: list[str], console: Console) -> None:
    """Write the report of a run, or print its data."""
    said = _parser().parse_args(words)
    if not said.run.is_dir():
        raise UsageError(f"{said.run}: there is no such folder. spade-train list shows the runs.")
    from spade_train.report.page import html_of, report_of, write_whole
    from spade_train.report.reading import RunReader

    reader = RunReader(RunFolder.open(said.run))
    if said.json:
        print(json.dumps(report_of(reader, drawn=False).as_dict(), indent=2, default=str))
        return
    report = report_of(reader)
    out = said.out if said.out is not None else said.run / "report.html"
    write_whole(out, html_of(report))
    first = report.first
    if first is not None:
        console.print(f"{first.subsystem} holds it back: {printable(first.as_dict()['found'])}", markup=False)
    elif report.too_little:
        console.print("There is too little on record to say what holds it back.")
    else:
        console.print(f"What holds it back: {printable(report.nothing)}", markup=False)
    console.print(f"report  {printable(str(out))}", markup=False)
    if said.open:
        webbrowser.open(out.resolve().as_uri())


def _parser() -> Parser:
    parser = Parser(
        "report",
        "Write a run's report: one HTML page that needs no network, with what holds the run back and why, curves, "
        "tables to paste, and episodes without and with the hint. Of a run that goes on, it is that of now.",
        "spade-train report runs/mine",
        "spade-train report runs/mine --out mine.html --open",
        "spade-train report runs/mine --json",
    )
    parser.add_argument("run", type=Path, metavar="RUN", help="the run's folder")
    parser.add_argument("--out", type=Path, metavar="FILE", help="the page (default: RUN/report.html)")
    parser.add_argument("--open", action="store_true", help="open it in a browser")
    parser.add_argument("--json", action="store_true", help="print JSON instead: triage, figures, tables")
    return parser
