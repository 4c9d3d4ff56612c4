"""A folder that is a registry: ``<Name>/vN.py`` and its report ``vN.json``. Other formats hold the same files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from spade_envs.contract.findings import Rejection
from spade_envs.registry.integrity import examined_at, versions_in
from spade_envs.registry.versions import Entry
from spade_envs.transfer.arrival import Arrival, arrived


def files(versions: Iterable[Entry]) -> Iterator[tuple[str, bytes]]:
    """Yield the files of versions: name and bytes, the same ones for the same versions."""
    for entry in versions:
        number = f"{entry.header.id.name}/v{entry.header.id.version}"
        report = json.dumps(entry.report, indent=1, ensure_ascii=False) + "\n"
        yield f"{number}.json", report.encode("utf-8", "surrogatepass")
        yield f"{number}.py", entry.source.encode()


def write(versions: Iterable[Entry], folder: Path) -> None:
    """Write versions into an empty folder."""
    for name, data in files(versions):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)


def read(folder: Path) -> Iterator[Arrival]:
    """Yield the versions in a folder, the broken ones with what is wrong with them.

    Raises:
        OSError: the folder cannot be read.
    """
    there = versions_in(folder)
    for env_id in there.ids:
        place = folder / env_id.name / f"v{env_id.version}.py"
        yield arrived(str(place), examined_at(folder, env_id))
    for path, finding in there.faults:
        yield Arrival(str(path), Rejection((finding,)))
