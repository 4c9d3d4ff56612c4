"""The header of an environment file: TOML in comments, read whole, with every problem in one go.

What each key accepts stands in :mod:`spade_envs.contract.header_keys`; here is the form of the block, what
concerns two keys together, and the two hashes.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from spade_envs.contract.findings import Finding, Rejection
from spade_envs.contract.header_keys import KEYS, Domain, Origin
from spade_envs.contract.header_toml import places_of, read_toml
from spade_envs.contract.ids import EnvId, near_matches

HEADER_LIMIT = 8_192
"""The most characters between the header's two marks."""

_OPENING, _CLOSING = "# /// spade", "# ///"
_LINE_END = re.compile(r"(\r\n|\r|\n)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What never changes for one version of an environment: the keys of its header.

    Attributes:
        max_episode_steps: the time limit in steps that the registry applies.
        difficulty_levels: where given, the constructor takes ``difficulty`` from 1 (easiest) to this.
        generation_round: the self-play round that made it (0: an import); None for a seed environment.
    """

    id: EnvId
    title: str
    summary: str
    domain: Domain
    skills: tuple[str, ...]
    origin: Origin
    max_episode_steps: int
    license: str
    contract: int
    parent: EnvId | None = None
    generation_round: int | None = None
    difficulty_levels: int | None = None


def parse_header(source: str) -> Header | Rejection:
    """Read the header, or say everything that is wrong with it, each problem with its line."""
    lines = _lines(source)
    block, fault = _block(lines)
    if fault and not block:
        return Rejection((fault,))
    statements = [_uncommented(lines[number]) for number in block]
    places = places_of(statements)
    data, findings = read_toml(statements)
    findings += _unknown_or_wrong(data, places)
    findings += _missing(places)
    findings += _wrong_together(data, places, statements)
    if fault or findings:
        findings = [replace(finding, line=(finding.line or 0) + block.start) for finding in findings]
        findings += [fault] if fault else []
        return Rejection(tuple(sorted(findings, key=lambda finding: finding.line or 0)))
    data |= {key: EnvId.parse(data[key]) for key in ("id", "parent") if key in data}
    return Header(**{**data, "skills": tuple(data["skills"])})


def has_header(source: str) -> bool:
    """Say whether a header opens this source, with nothing but blank lines and comments before it."""
    return _opening(_lines(source)) is not None


def set_version(source: str, version: int) -> str:
    """Return the source with another version in its id line; every other character stays as it is.

    Raises:
        ValueError: the header has a fault, or the version is negative.
    """
    header = _sound(source)
    return _with_id(source, "id", header.id, EnvId(header.id.name, version))


def set_parent(source: str, parent: EnvId) -> str:
    """Return the source with another parent in its header; every other character stays as it is.

    Raises:
        ValueError: the header has a fault, or names no parent.
    """
    header = _sound(source)
    if header.parent is None:
        raise ValueError(f"The header of {header.id} names no parent.")
    return _with_id(source, "parent", header.parent, parent)


def _sound(source: str) -> Header:
    header = parse_header(source)
    if isinstance(header, Rejection):
        raise ValueError(f"The header has a fault and cannot be changed:\n{header.text()}")
    return header


def _with_id(source: str, key: str, old: EnvId, new: EnvId) -> str:
    """Write another id into a key's line; a line on which the old one does not stand in one piece is written anew."""
    lines = _lines(source)
    block, _ = _block(lines)
    place = block.start + places_of([_uncommented(lines[number]) for number in block])[key] - 1
    pieces = _LINE_END.split(source)  # lines at even places, their ends between them
    line = pieces[2 * place]
    pieces[2 * place] = line.replace(str(old), str(new), 1) if str(old) in line else f'# {key} = "{new}"'
    return "".join(pieces)


def body(source: str) -> str:
    """Return what stands below the header, with LF line ends and no blank lines around it."""
    lines = _lines(source)
    block, fault = _block(lines)
    return "\n".join(lines if fault else lines[block.stop + 1 :]).strip("\n")


def code_sha256(source: str) -> str:
    """Return the hash of :func:`body`, which finds the same code under another header."""
    return file_sha256(body(source))


def file_sha256(source: str) -> str:
    """Return the hash of the source's bytes in UTF-8, which pins a file."""
    return hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()


def _lines(source: str) -> list[str]:
    return _LINE_END.split(source.removeprefix("\ufeff"))[::2]


def _opening(lines: list[str]) -> int | None:
    for number, line in enumerate(lines):
        if line.rstrip() == _OPENING:
            return number
        if line.strip() and not line.startswith("#"):
            return None
    return None


def _block(lines: list[str]) -> tuple[range, Finding | None]:
    """Return the indices of the lines between the two marks, and what is wrong with the block as a whole."""
    opening = _opening(lines)
    if opening is None:
        return range(0), _no_header(lines)
    first = opening + 1
    stop = next((number for number in range(first, len(lines)) if _may_end(lines[number])), len(lines))
    if sum(map(len, lines[first:stop])) > HEADER_LIMIT:
        found = f"The header has more than {HEADER_LIMIT:,} characters."
        return range(0), Finding(
            "header.size", found, "Shorten it; what explains the code goes below.", first
        )
    if stop == len(lines) or lines[stop].rstrip() != _CLOSING:
        remedy = f"End the header with a line `{_CLOSING}`; only comments stand before it."
        return range(first, stop), Finding("header.unclosed", "The header has no end.", remedy, stop + 1)
    return range(first, stop), None


def _may_end(line: str) -> bool:
    return not line.startswith("#") or re.fullmatch(r"#\s*//+\s*", line) is not None


def _no_header(lines: list[str]) -> Finding:
    remedy = f"Begin the file with `{_OPENING}`, the metadata as TOML in comments, and `{_CLOSING}`."
    for number, line in enumerate(lines, 1):
        if line.rstrip() == _OPENING:
            return Finding("header.missing", "Code stands before the header.", remedy, number)
        if re.fullmatch(r"#?\s*//+\s*spade", line.strip(), re.IGNORECASE):
            return Finding("header.missing", "The header's first line is misspelt.", remedy, number)
    return Finding("header.missing", "The file has no header.", remedy, 1)


def _uncommented(line: str) -> str:
    return line.removeprefix("#").removeprefix(" ")


def _unknown_or_wrong(data: dict[str, Any], places: dict[str, int]) -> Iterator[Finding]:
    for name, value in data.items():
        line = places.get(name, 1)
        if name not in KEYS:
            near = near_matches(name, KEYS)
            remedy = f"Did you mean `{near[0]}`?" if near else f"Delete it. The keys are {', '.join(KEYS)}."
            yield Finding("header.unknown-key", f"`{name[:80]}` is no key of the header.", remedy, line)
        elif not KEYS[name].accepts(value):
            found = f"`{name}` is {_shown(value)}."
            yield Finding(f"header.{name}", found, f"Write {KEYS[name].expected}.", line)


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # an integer beyond Python's limit on digits
        return "too long a number"
    return text if len(text) <= 80 else text[:77] + "..."


def _missing(places: dict[str, int]) -> Iterator[Finding]:
    for name, key in KEYS.items():
        if key.needed and name not in places:
            remedy = f"Add a line `# {name} = ...`: {key.expected}."
            yield Finding("header.missing-key", f"The header lacks `{name}`.", remedy, 0)


def _wrong_together(data: dict[str, Any], places: dict[str, int], statements: list[str]) -> Iterator[Finding]:
    round_rule, round_line = "header.generation_round", places.get("generation_round")
    if data.get("origin") == "generated" and round_line is None:
        remedy = f"Add a line `# generation_round = ...`: {KEYS['generation_round'].expected}."
        yield Finding(round_rule, "A generated environment lacks its round.", remedy, 0)
    if data.get("origin") == "seed" and round_line is not None:
        remedy = 'Delete the line, or write `origin = "generated"`.'
        yield Finding(round_rule, "A seed environment has no round.", remedy, round_line)
    id_line = places.get("id", 0)  # what `set_version` rewrites
    if KEYS["id"].accepts(data.get("id")) and data["id"] not in statements[id_line - 1]:
        remedy = f'Write `# id = "{data["id"]}"` on one line.'
        yield Finding("header.id", "The id is not written in one piece.", remedy, id_line)
