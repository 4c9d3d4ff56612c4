"""Judging subcommands: check, admit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from spade_envs.admission.admit import Admission, checked, duplicate, settle, surroundings
from spade_envs.admission.evidence import Surroundings
from spade_envs.admission.report import Report
from spade_envs.admission.review_http import from_environment
from spade_envs.admission.settings import Settings
from spade_envs.cli.verdicts import Bench, judge_files
from spade_envs.contract.printable import printable
from spade_envs.errors import UsageError
from spade_envs.registry.paths import user_registry
from spade_envs.registry.store import Registry

Files = Annotated[list[Path], typer.Argument(metavar="FILE...", help="Designs: Python files with a header.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the reports as JSON, one document a line.")]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", "-j", min=1, help="Files judged at once; the number of cores by default."),
]
Folder = Annotated[
    Path | None,
    typer.Option("--registry", metavar="DIR", help="SPADE_REGISTRY or the user's by default."),
]
Review = Annotated[
    bool,
    typer.Option("--review", help="Ask the model at SPADE_REVIEW_URL, too; without its consent none passes."),
]


def check(
    files: Files,
    all_gates: Annotated[
        bool, typer.Option("--all", help="Go on after the first gate that is not passed.")
    ] = False,
    registry: Folder = None,
    review: Review = False,
    jobs: Jobs = None,
    as_json: AsJson = False,
) -> int:
    """Judge designs and say what is wrong with them. Nothing is written."""
    target = usable(registry)
    options = {**how_judged(target, review), "all_gates": all_gates}
    bench = Bench(
        known=lambda source: None if all_gates else duplicate(source, target),
        settle=lambda source, report: checked(source, report, target),
        options=options,
    )
    return judge_files(files, bench, jobs=jobs, as_json=as_json)


def admit(
    files: Files,
    registry: Folder = None,
    review: Review = False,
    jobs: Jobs = None,
    as_json: AsJson = False,
) -> int:
    """Judge designs and write those that pass into a registry, each as the next free version of its name.

    Those that do not are kept there, too, with their reasons: see the command refused.
    """
    target = usable(registry, writable=True)
    options = how_judged(target, review)

    def settled(source: str, report: Report) -> Admission:
        return settle(source, report, target, compared=options["around"])

    bench = Bench(lambda source: duplicate(source, target), settled, options, writes=True)
    return judge_files(files, bench, jobs=jobs, as_json=as_json)


def usable(folder: Path | None, *, writable: bool = False) -> Registry:
    """Return the registry that is meant, if it can be used."""
    registry = Registry(folder or user_registry())
    registry.check(writable=writable)
    return registry


def that_is_there(folder: Path) -> Registry:
    """Return a registry that is to be read, if there is one."""
    if not folder.exists():
        raise UsageError(f"{printable(str(folder))} does not exist; check the spelling")
    return usable(folder)


def how_judged(registry: Registry, review: bool) -> dict[str, Any]:
    """Return how designs are judged: against the whole stack, and by a model where that is asked for."""
    reviewer = from_environment() if review else None
    if review and reviewer is None:
        raise UsageError("--review needs a model: set SPADE_REVIEW_URL and SPADE_REVIEW_MODEL")
    around = surroundings(registry, Surroundings(reviewer=reviewer))
    return {"around": around, "settings": Settings(review=review)}
