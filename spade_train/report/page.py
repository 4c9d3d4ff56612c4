"""A run's report as one HTML file: no script, nothing that is loaded from anywhere, every text escaped."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from spade_envs.contract.printable import printable
from spade_envs.errors import UsageError
from spade_train.report.episodes import Pair, some_pairs
from spade_train.report.figures import environments_table, final, final_table, rounds_table
from spade_train.report.pictures import Picture, pictures
from spade_train.report.reading import RunReader
from spade_train.report.tables import Table
from spade_train.report.triage import holds_back, triage
from spade_train.report.values import RunFacts
from spade_train.report.verdict import Verdict

_PACKAGE = Path(__file__).parents[1]
TEMPLATES = _PACKAGE / "templates"
STYLES = (TEMPLATES / "report" / "style.css", _PACKAGE / "web" / "static" / "runs.css")
"""What the pages on a server have of the site, and what they have besides, which is the same."""

PAIRS = 4
"""How many pairs of episodes a report shows."""


@dataclass(frozen=True, slots=True)
class Report:
    """All that a report shows."""

    run: RunFacts
    verdicts: tuple[Verdict, ...]
    tables: tuple[Table, ...]
    pictures: tuple[Picture, ...]
    pairs: tuple[Pair, ...]

    @property
    def first(self) -> Verdict | None:
        """What holds the run back."""
        return holds_back(self.verdicts)

    @property
    def too_little(self) -> bool:
        """Whether the first checks have too little to say anything."""
        return self.first is None and all(one.state == "unknown" for one in self.verdicts[:4])

    @property
    def nothing(self) -> str:
        """What is said where no check holds the run back: of which subsystems that is not known, either."""
        unknown = [one.subsystem for one in self.verdicts if one.state == "unknown"]
        too_little = f" There is too little to say of: {', '.join(unknown)}." if unknown else ""
        return f"Nothing that these records show.{too_little}"

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data, without the charts and the episodes."""
        return {
            **self.run.view.as_dict(),
            "holds_back": self.first.check if self.first else None,
            "triage": [one.as_dict() for one in self.verdicts],
            "figures": [one.as_dict() for one in final(self.run)],
            "tables": {
                one.title.lower(): [dict(zip(one.columns, row, strict=True)) for row in one.rows]
                for one in self.tables
            },
            "broken_lines": self.run.broken,
        }


def report_of(reader: RunReader, *, drawn: bool = True) -> Report:
    """Return the report of a run as it is now; ``drawn`` with charts."""
    run = reader.read()
    return Report(
        run,
        triage(run),
        (final_table(run), rounds_table(run), environments_table(run)),
        pictures(run) if drawn else (),
        tuple(some_pairs(reader, PAIRS)),
    )


def html_of(report: Report) -> str:
    """Return a report as one HTML file."""
    style = Markup("".join(path.read_text() for path in STYLES))
    return _templates().get_template("report/file.html").render(report=report, style=style)


def write_whole(path: Path, text: str) -> None:
    """Write a file whole or not at all.

    Raises:
        UsageError: it cannot be written.
    """
    scratch = ""
    try:
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as file:
            scratch = file.name
            file.write(text)
        os.chmod(scratch, 0o644)
        os.replace(scratch, path)
    except OSError as problem:
        if scratch:
            Path(scratch).unlink(missing_ok=True)
        raise UsageError(f"{path}: cannot be written ({problem.strerror}); name another --out.") from problem


@cache
def _templates() -> Environment:
    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _visible(value: Any) -> Any:
    """Escape what cannot be seen or turns the reading direction; lines stay."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return printable(value, keep="\n\t")
