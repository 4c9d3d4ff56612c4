"""Judge designs side by side and print the verdicts in the order of the designs, each as soon as it can be."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.text import Text

from spade_envs.admission.admit import Admission
from spade_envs.admission.many import Verdict, judge_many
from spade_envs.admission.report import Report, refused
from spade_envs.cli.codes import CANNOT_RUN, DONE, REFUSED
from spade_envs.cli.output import LINES, err, mute, out, remark
from spade_envs.cli.progress import progress
from spade_envs.cli.reading import read_design
from spade_envs.contract import Rejection
from spade_envs.contract.printable import printable, printable_json
from spade_envs.errors import SpadeError


@dataclass(frozen=True, slots=True)
class Bench:
    """What a command does with a design.

    Attributes:
        known: says what became of it without judging it, where that is known.
        settle: does what a report says.
        options: as for :func:`spade_envs.admission.judge`.
        writes: whether it changes anything: then it goes on where its output cannot be written.
        in_order: whether a design counts on those before it: then none is settled before them, however this ends.
    """

    known: Callable[[str], Admission | None]
    settle: Callable[[str, Report], Admission]
    options: dict[str, Any]
    writes: bool = False
    in_order: bool = False


@dataclass(frozen=True, slots=True)
class Design:
    """A design on the bench.

    Attributes:
        name: what it is called, as its file is.
        source: the whole file, or why there is none.
    """

    name: str
    source: str | Rejection


def judge_files(files: list[Path], bench: Bench, *, jobs: int | None, as_json: bool) -> int:
    """Judge every file and return the exit code, as :func:`judge_designs`."""
    designs = [Design(str(path), read_design(path)) for path in dict.fromkeys(files)]
    return judge_designs(designs, bench, jobs=jobs, as_json=as_json)


def judge_designs(designs: Sequence[Design], bench: Bench, *, jobs: int | None, as_json: bool) -> int:
    """Judge every design and return the exit code: 2 where one could not be judged, else 1 where one was refused.

    When it is stopped, what is known is settled and printed first.
    """
    desk = _Desk(designs, bench, as_json)
    readable = {
        place: design.source for place, design in enumerate(designs) if isinstance(design.source, str)
    }
    unknown = [place for place, source in readable.items() if not desk.knows(place, source)]
    to_judge = [readable[place] for place in unknown]
    with progress("judging", len(designs), len(designs) - len(unknown)) as advance:
        desk.show_next()
        with closing(judge_many(to_judge, jobs=jobs, **bench.options)) as verdicts:
            try:
                for number, verdict in verdicts:
                    desk.put(unknown[number], verdict)
                    desk.show_next()
                    advance()
            except KeyboardInterrupt:
                if not bench.in_order:
                    desk.show_rest()
                raise
    return desk.close()


class _Desk:
    """Holds verdicts until all before them are known, then settles and prints them."""

    def __init__(self, designs: Sequence[Design], bench: Bench, as_json: bool) -> None:
        self._designs, self._bench, self._as_json = designs, bench, as_json
        self._known: dict[int, Admission | Verdict] = {
            place: refused(design.source)
            for place, design in enumerate(designs)
            if isinstance(design.source, Rejection)
        }
        self._next = self._admitted = self._failed = 0
        self._unheard: OSError | None = None

    def knows(self, place: int, source: str) -> bool:
        """Say whether a design need not be judged."""
        known = self._bench.known(source)
        if known is not None:
            self._known[place] = known
        return known is not None

    def put(self, place: int, verdict: Verdict) -> None:
        """Take a verdict."""
        self._known[place] = verdict

    def show_next(self) -> None:
        """Settle and print what is known, up to the first design that is not."""
        while self._next in self._known:
            self._next += 1
            self._show(self._next - 1, self._known.pop(self._next - 1))

    def show_rest(self) -> None:
        """Settle and print all that is known."""
        for place in sorted(self._known):
            self._show(place, self._known.pop(place))

    def _show(self, place: int, verdict: Admission | Verdict) -> None:
        design, source = self._designs[place], self._designs[place].source
        if isinstance(verdict, SpadeError):
            self._failed += 1
            self._tell(_print_failure, design.name, verdict, self._as_json)
            return
        admission = verdict if isinstance(verdict, Admission) else Admission(verdict)
        try:
            if isinstance(verdict, Report) and isinstance(source, str):
                admission = self._bench.settle(source, verdict)
        finally:  # the verdict is worth knowing even where it cannot be written
            self._tell(_print_document if self._as_json else _print_text, design, admission)
        self._admitted += admission.report.admitted

    def _tell(self, print_it: Callable[..., None], *what: Any) -> None:
        """Print something. Where nobody hears it, what writes goes on all the same; what does not ends."""
        try:
            print_it(*what)
        except OSError as error:
            self._unheard = error
            if not self._bench.writes:
                _say_closed(error, "stopped")
                raise
            mute(sys.stdout)
            _say_closed(error, "the rest is judged and written all the same")

    def close(self) -> int:
        """Print the sum and return the exit code.

        Raises:
            OSError: what was printed did not get through, and not because its reader had seen enough.
        """
        count = len(self._designs)
        if count > 1 and not self._as_json:
            failed = f", {self._failed} could not be judged" if self._failed else ""
            self._tell(out().print, f"{self._admitted} of {count} admitted{failed}")
        if self._unheard and not isinstance(self._unheard, BrokenPipeError):
            raise self._unheard
        if self._failed:
            return CANNOT_RUN
        return DONE if self._admitted == count else REFUSED


def _say_closed(error: OSError, so: str) -> None:
    """Where the reader of a pipe has gone, say what that leads to; another error is said at the end."""
    if isinstance(error, BrokenPipeError):
        remark(f"nobody reads the output any more: {so}")


def _print_document(design: Design, admission: Admission) -> None:
    _print_line({"path": design.name, **admission.report.as_dict(), "registered_as": admission.id})


def _print_line(document: dict[str, Any]) -> None:
    print(printable_json(document), flush=True)


def _print_text(design: Design, admission: Admission) -> None:
    report, console = admission.report, out()
    where = f" as {admission.id}: {printable(str(admission.path))}" if admission.id else ""
    headline = Text(report.headline(design.name), "green" if report.admitted else "red")
    console.print(headline.append(where, "default"), soft_wrap=True)
    if report.worth:
        console.print(Text(report.worth), soft_wrap=True)
    for finding in report.findings:
        text = finding.text(design.name, design.source if isinstance(design.source, str) else None)
        console.print(Text(text, "yellow" if finding.severity == "warn" else ""), soft_wrap=True)


def _print_failure(name: str, error: SpadeError, as_json: bool) -> None:
    if as_json:
        _print_line({"path": name, "admitted": None, "error": str(error)})
    said = f"{printable(name)}: could not be judged: {printable(str(error), keep=LINES)}"
    err().print(Text(said, "red"), soft_wrap=True)
