"""The subcommand verify: whether every version still is what its report says."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from spade_envs.admission.admit import surroundings
from spade_envs.cli.codes import CANNOT_RUN, DONE, REFUSED
from spade_envs.cli.judge import that_is_there
from spade_envs.cli.output import out
from spade_envs.cli.progress import progress
from spade_envs.contract.printable import printable, printable_json
from spade_envs.errors import SpadeError
from spade_envs.registry.stack import registries
from spade_envs.verification import Place, Verified, chosen, places
from spade_envs.verification import verify as verified

Ids = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[ID...]", help="Without -vN, the newest of a name; every version where none is named."
    ),
]


def verify(
    ids: Ids = None,
    registry: Annotated[
        Path | None,
        typer.Option("--registry", metavar="DIR", help="Only this registry; the whole stack by default."),
    ] = None,
    judge: Annotated[
        bool, typer.Option("--judge", help="Ask every gate again, and compare the verdicts.")
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, help="Versions at once; the number of cores by default."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, one document a version.")] = False,
) -> int:
    """Look whether every version is what its report says: files, hashes, language, spaces, the expert's success.

    Nothing is written. Exit code 1 where something differs.
    """
    searched = (that_is_there(registry),) if registry else registries()
    every = places(searched)
    wanted = chosen(ids, every) if ids else every
    around = surroundings(searched[0]) if judge else None
    tally = _Tally()
    with (
        progress("verifying", len(wanted)) as advance,
        closing(verified(wanted, around=around, jobs=jobs)) as results,
    ):
        for place, result in results:
            tally.add(place, result)
            _print_document(place, result) if as_json else _print_lines(place, result)
            advance()
    if not as_json:
        out().print(tally.table())
    return tally.code


class _Tally:
    """How many versions of each registry are sound, differ, or could not be verified."""

    def __init__(self) -> None:
        self._counts: dict[Path, Counter[str]] = {}

    def add(self, place: Place, result: Verified | SpadeError) -> None:
        counts = self._counts.setdefault(place.root, Counter())
        counts["versions"] += 1
        if isinstance(result, SpadeError):
            counts["not verified"] += 1
            return
        counts["sound" if result.sound else "differ"] += 1
        counts["not recorded"] += any(finding.severity == "warn" for finding in result.findings)

    @property
    def code(self) -> int:
        total: Counter[str] = sum(self._counts.values(), Counter())
        return CANNOT_RUN if total["not verified"] else REFUSED if total["differ"] else DONE

    def table(self) -> Table:
        columns = ("versions", "sound", "differ", "not recorded", "not verified")
        table = Table("registry", *columns, box=None, header_style="bold")
        for root, counts in self._counts.items():
            table.add_row(escape(str(root)), *(str(counts[name]) for name in columns))
        return table


def _print_document(place: Place, result: Verified | SpadeError) -> None:
    known = (
        {"id": str(place), "path": str(place.path), "sound": None, "error": str(result)}
        if isinstance(result, SpadeError)
        else result.as_dict()
    )
    print(printable_json(known), flush=True)


def _print_lines(place: Place, result: Verified | SpadeError) -> None:
    if isinstance(result, SpadeError):
        out().print(Text(printable(f"{place}: could not be verified: {result}"), "red"), soft_wrap=True)
        return
    for finding in result.findings:
        said = f"{place}: {finding.found} [{finding.rule}] {finding.remedy}"
        out().print(Text(printable(said), "yellow" if finding.severity == "warn" else "red"), soft_wrap=True)
