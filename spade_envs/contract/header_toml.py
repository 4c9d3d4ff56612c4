"""The TOML of a header, read so that every faulty line is found and not the first alone.

Lines are counted from 1 within the block.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Any

from spade_envs.contract.findings import Finding

_ASSIGNMENT = re.compile(r"""["']?([A-Za-z0-9_-]+)["']?\s*=""")
_TRIPLE_QUOTE = re.compile(r"\"{3}|'{3}")
_TOML_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


def places_of(statements: list[str]) -> dict[str, int]:
    """Return the line on which each key first stands."""
    places: dict[str, int] = {}
    for number, statement in enumerate(statements, 1):
        if match := _ASSIGNMENT.match(statement):
            places.setdefault(match[1], number)
    return places


def read_toml(statements: list[str]) -> tuple[dict[str, Any], list[Finding]]:
    """Read the block at once or, where it is no TOML, key by key, so that each faulty one is found."""
    findings = [_multi_line(line) for line, text in enumerate(statements, 1) if _TRIPLE_QUOTE.search(text)]
    try:
        return tomllib.loads("\n".join(statements)), findings
    except (ValueError, RecursionError) as error:
        whole = _toml_finding(error, 1)
    data: dict[str, Any] = {}
    findings += _duplicates(statements)
    for first, text in _one_by_one(statements):
        try:
            data |= tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            findings.append(_toml_finding(error, first))
    return data, findings or [whole]


def _one_by_one(statements: list[str]) -> Iterator[tuple[int, str]]:
    starts = [number for number, text in enumerate(statements) if number == 0 or _ASSIGNMENT.match(text)]
    for start, stop in zip(starts, [*starts[1:], len(statements)], strict=True):
        yield start + 1, "\n".join(statements[start:stop])


def _toml_finding(error: Exception, first: int) -> Finding:
    message = str(error)
    place = _TOML_PLACE.search(message)
    line = first + (int(place[1]) - 1 if place and place[1] else 0)
    found = f"The header is no TOML here: {_TOML_PLACE.sub('', message)}."
    remedy = "Write `# key = value`: text in straight double quotes, lists in square brackets, numbers bare."
    return Finding("header.toml", found, remedy, line)


def _multi_line(line: int) -> Finding:
    return Finding(
        "header.toml", "A string may go on over several lines here.", "Write it on one line.", line
    )


def _duplicates(statements: list[str]) -> Iterator[Finding]:
    places = places_of(statements)
    for line, statement in enumerate(statements, 1):
        match = _ASSIGNMENT.match(statement)
        if match and places[match[1]] < line:
            found = f"`{match[1]}` stands here a second time."
            yield Finding("header.duplicate-key", found, "Delete one of the two.", line)
