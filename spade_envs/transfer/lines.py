"""A data set: JSON, one line a version, that `datasets` and any reader of JSON lines load.

Every line has the same keys with values of the same type, since readers settle a column's type on its first
lines: what a header lacks is an empty text, 0 levels or round -1, and a report, which has no fixed shape, is text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from spade_envs.contract.findings import Rejection
from spade_envs.contract.header import Header, code_sha256
from spade_envs.contract.plain import from_json
from spade_envs.registry.integrity import compared
from spade_envs.registry.versions import Entry
from spade_envs.transfer.arrival import Arrival, broken

LINE_LIMIT = 4 * 1024**2
"""Bytes of a line: what a source and a report take where every character is escaped."""
_HALF = re.compile("[\ud800-\udfff]")  # of a character: JSON may hold them, no file can
_REMEDY = 'Write one JSON object a line, with the whole file as the text "source".'


def write(versions: Iterable[Entry], file: IO[bytes]) -> None:
    """Write versions as lines of JSON."""
    for entry in versions:
        file.write(json.dumps(_row(entry)).encode() + b"\n")


def read(path: Path) -> Iterator[Arrival]:
    """Yield the versions in a data set; hashes are compared where a line has them."""
    with path.open("rb") as file:
        for number, line in enumerate(_bounded(file), 1):
            if line.strip():
                yield _arrival(f"{path}:{number}", line)


def _row(entry: Entry) -> dict[str, Any]:
    return {
        **_flat(entry.header),
        "source": entry.source,
        "report": json.dumps(entry.report, ensure_ascii=False),
        "file_sha256": entry.file_sha256,
        "code_sha256": code_sha256(entry.source),
    }


def _flat(header: Header) -> dict[str, Any]:
    return {
        "id": str(header.id),
        "title": header.title,
        "summary": header.summary,
        "domain": header.domain,
        "skills": list(header.skills),
        "origin": header.origin,
        "parent": str(header.parent or ""),
        "generation_round": -1 if header.generation_round is None else header.generation_round,
        "max_episode_steps": header.max_episode_steps,
        "difficulty_levels": header.difficulty_levels or 0,
        "license": header.license,
        "contract": header.contract,
    }


def _bounded(file: IO[bytes]) -> Iterator[bytes]:
    """Yield lines; of one that is too long, its beginning and no more is kept."""
    while line := file.readline(LINE_LIMIT + 1):
        yield line
        while len(line) > LINE_LIMIT and not line.endswith(b"\n"):
            line = file.readline(LINE_LIMIT + 1)


def _arrival(place: str, line: bytes) -> Arrival:
    if len(line) > LINE_LIMIT:
        return broken(place, f"the line has more than {LINE_LIMIT} bytes", _REMEDY)
    try:
        row = from_json(line.decode())
    except ValueError as error:
        return broken(place, f"the line is no JSON: {error}", _REMEDY)
    source = row.get("source") if isinstance(row, dict) else None
    if not isinstance(source, str) or _HALF.search(source):
        return broken(place, 'the line is no object with a text "source" of whole characters', _REMEDY)
    differ = tuple(finding for finding in compared(source, row) if finding.rule == "files.hash")
    return Arrival(place, Rejection(differ) if differ else source)
