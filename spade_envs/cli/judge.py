"""Judging subcommands: check, admit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from spade_envs.admission import Admission, Report
from spade_envs.admission import admit as admit_source
from spade_envs.admission import judge as judge_source
from spade_envs.admission.report import refused
from spade_envs.cli.codes import DONE, REFUSED, err, out, print_json
from spade_envs.contract import Finding, Rejection
from spade_envs.errors import UsageError
from spade_envs.registry.paths import user_registry
from spade_envs.registry.store import Registry

SOURCE_LIMIT = 64 * 1024  # bytes, contract section 3
Files = Annotated[list[Path], typer.Argument(metavar="FILE...", help="Designs: Python files with a header.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the reports as JSON.")]


def check(files: Files, as_json: AsJson = False) -> int:
    """Judge designs and say what is wrong with them. Nothing is written."""
    return _each(files, as_json, lambda source: Admission(judge_source(source)))


def admit(
    files: Files,
    registry: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where to write; SPADE_REGISTRY or the user's by default."),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Judge designs and write those that pass into a registry, each as the next free version of its name."""
    target = Registry(registry or user_registry())
    return _each(files, as_json, lambda source: admit_source(source, target))


def _each(files: list[Path], as_json: bool, judge: Callable[[str], Admission]) -> int:
    """Judge every file, printing each verdict as it is known; 1 where one was refused."""
    sources = {path: read_design(path) for path in dict.fromkeys(files)}
    verdicts: list[tuple[Path, Admission]] = []
    with _progress(len(sources)) as advance:
        for path, source in sources.items():
            verdict = judge(source) if isinstance(source, str) else Admission(refused(source))
            verdicts.append((path, verdict))
            if not as_json:
                _print(path, source, verdict)
            advance()
    if as_json:
        print_json([{"path": str(path), **v.report.as_dict(), "registered_as": v.id} for path, v in verdicts])
    elif len(verdicts) > 1:
        passed = sum(v.report.admitted for _, v in verdicts)
        out().print(f"{passed} of {len(verdicts)} admitted")
    return DONE if all(v.report.admitted for _, v in verdicts) else REFUSED


def read_design(path: Path) -> str | Rejection:
    """Read a design's file, or say why it cannot be one.

    Raises:
        UsageError: there is no such file.
    """
    if path.is_dir():
        raise UsageError(f"{path} is a folder; name the files in it, for example {path / '*.py'}")
    if not path.exists():
        raise UsageError(f"{path} does not exist; check the spelling")
    with path.open("rb") as file:
        data = file.read(SOURCE_LIMIT + 1)
    if len(data) > SOURCE_LIMIT:
        return _unreadable(
            "size", f"the file has more than {SOURCE_LIMIT} bytes", "Write a smaller environment."
        )
    if not data.strip():
        return _unreadable("empty", "the file is empty", "Write a header and one environment class.")
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        found = f"byte {error.start} is no UTF-8; this is no text file"
        return _unreadable("encoding", found, "Write the source as UTF-8 text.")


def _unreadable(rule: str, found: str, remedy: str) -> Rejection:
    return Rejection((Finding(f"form.{rule}", found, remedy),))


def _print(path: Path, source: str | Rejection, verdict: Admission) -> None:
    report: Report = verdict.report
    colour = "green" if report.admitted else "red"
    text = report.text(str(path), source if isinstance(source, str) else None)
    first, _, rest = text.partition("\n")
    where = f" as {verdict.id}: {verdict.path}" if verdict.id else ""
    out().print(f"[{colour}]{escape(first)}[/{colour}]{escape(where)}", soft_wrap=True)
    if rest:
        out().print(escape(rest), soft_wrap=True)


@contextmanager
def _progress(total: int) -> Iterator[Callable[[], None]]:
    """Show a bar on the terminal where there is more than one file; yields the function that moves it on."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err(), transient=True, disable=total < 2 or not err().is_terminal) as bar:
        task = bar.add_task("judging", total=total)
        yield lambda: bar.advance(task)
