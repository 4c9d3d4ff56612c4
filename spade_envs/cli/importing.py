"""The subcommand import: an export on its way in, through admission."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spade_envs.cli.judge import AsJson, Folder, Jobs, Review, how_judged, usable
from spade_envs.cli.verdicts import Bench, Design, judge_designs
from spade_envs.transfer import Landing, arrivals


def import_(
    source: Annotated[
        Path, typer.Argument(metavar="SOURCE", help="A folder, .zip, .whl or .jsonl that export wrote.")
    ],
    registry: Folder = None,
    review: Review = False,
    jobs: Jobs = None,
    as_json: AsJson = False,
) -> int:
    """Judge every design in an export and write those that pass, each as the next free version of its name.

    The reports keep the ids and hashes that they had, and where they came from. A parent that came along is named
    as it stands here.
    """
    target = usable(registry, writable=True)
    options = how_judged(target, review)
    came = arrivals(source)
    landing = Landing(came, target, options["around"])
    bench = Bench(landing.known, landing.settle, options, writes=True, in_order=True)
    return judge_designs([Design(a.place, a.source) for a in came], bench, jobs=jobs, as_json=as_json)
