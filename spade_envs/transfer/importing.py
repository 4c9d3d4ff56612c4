"""Versions on their way in: each design is judged like any other, and gets the next free number here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from spade_envs.admission.admit import Admission
from spade_envs.admission.many import judge_many
from spade_envs.admission.report import Report, refused
from spade_envs.contract.findings import Rejection
from spade_envs.contract.printable import printable
from spade_envs.errors import SpadeError, UsageError
from spade_envs.registry.store import Registry
from spade_envs.transfer import archive, folder, lines
from spade_envs.transfer.arrival import Arrival
from spade_envs.transfer.formats import Format, found
from spade_envs.transfer.landing import Landing
from spade_envs.transfer.order import parents_first

_READERS: dict[Format, Callable[[Path], Iterator[Arrival]]] = {
    "folder": folder.read,
    "zip": archive.read,
    "wheel": archive.read,
    "jsonl": lines.read,
}


def arrivals(source: Path | str) -> list[Arrival]:
    """Read what an export holds, parents before what was derived from them. Nothing is judged or run.

    Raises:
        UsageError: there is no such file, it is of no known format, or it holds no versions.
        OSError: it cannot be read.
    """
    path = Path(source)
    came = list(_READERS[found(path)](path))
    if not came:
        raise UsageError(
            f"{printable(str(source))} holds no versions; they lie in it as <Name>/vN.py with <Name>/vN.json,"
            " or as lines of JSON"
        )
    return parents_first(came)


def import_(
    source: Path | str, registry: Registry, *, jobs: int | None = None
) -> list[tuple[str, Admission | SpadeError]]:
    """Judge everything in an export and write what is admitted, each as the next free version of its name.

    Args:
        source: a folder, a zip, a wheel or a data set that :func:`export` wrote.
        registry: where it is written.
        jobs: how many designs are judged at once; as many as there are cores where missing.

    Returns:
        For each version its place in the source and what became of it, in the order in which they were written;
        an error where this machine could not judge it.

    Raises:
        UsageError: the source is no export.
        RegistryError: the registry cannot be written.
    """
    registry.check(writable=True)
    came = arrivals(source)
    landing = Landing(came, registry)
    known: dict[int, Admission | Report | SpadeError] = {}
    for place, arrival in enumerate(came):
        early = (
            refused(arrival.source)
            if isinstance(arrival.source, Rejection)
            else landing.known(arrival.source)
        )
        if early is not None:
            known[place] = early
    waiting = [place for place in range(len(came)) if place not in known]
    texts = [str(came[place].source) for place in waiting]
    with closing(judge_many(texts, jobs=jobs, around=landing.compared)) as verdicts:
        known |= {waiting[at]: verdict for at, verdict in verdicts}
    return [(arrival.place, landing.landed(arrival, known[place])) for place, arrival in enumerate(came)]
