"""The header of an environment file: TOML in comments, read whole, with every problem in one go.

What each key accepts stands in :mod:`spade_envs.contract.header_keys`; here is the form of the block, what
concerns two keys together, and the two hashes.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

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
    block = _block(lines)
    if isinstance(block, Finding):
        return Rejection((block,))
    statements = [_uncommented(lines[number]) for number in block]
    places = places_of(statements)
    data, findings = read_toml(statements)
    findings += [
        *_unknown_or_wrong(data, places),
        *_missing(places),
        *_wrong_together(data, places, statements),
    ]
    if findings:
        shifted = (_at(finding, (finding.line or 0) + block.start) for finding in findings)
        return Rejection(tuple(sorted(shifted, key=lambda finding: finding.line or 0)))
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
    header = parse_header(source)
    if isinstance(header, Rejection):
        raise ValueError(f"The version of a source with a faulty header cannot be set:\n{header.text()}")
    block = cast(range, _block(_lines(source)))
    place = block.start + places_of([_uncommented(_lines(source)[number]) for number in block])["id"] - 1
    pieces = _LINE_END.split(source)  # lines at even places, their ends between them
    new = EnvId(header.id.name, version)
    pieces[2 * place] = pieces[2 * place].replace(str(header.id), str(new), 1)
    return "".join(pieces)


def body(source: str) -> str:
    """Return what stands below the header, with LF line ends and no blank lines around it."""
    lines = _lines(source)
    block = _block(lines)
    return "\n".join(lines if isinstance(block, Finding) else lines[block.stop + 1 :]).strip("\n")


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


def _block(lines: list[str]) -> range | Finding:
    """Return the indices of the lines between the two marks."""
    opening = _opening(lines)
    if opening is None:
        return _no_header(lines)
    for number in range(opening + 1, len(lines)):
        if lines[number].rstrip() == _CLOSING:
            size = sum(map(len, lines[opening + 1 : number]))
            if size <= HEADER_LIMIT:
                return range(opening + 1, number)
            found = f"The header has {size:,} characters; at most {HEADER_LIMIT:,} are allowed."
            return Finding("header.size", found, "Shorten it.", opening + 1)
        if not lines[number].startswith("#"):
            found = "The header has no end: this line is no comment, and no `# ///` came before it."
            return Finding("header.unclosed", found, f"End the header with a line `{_CLOSING}`.", number + 1)
    return Finding(
        "header.unclosed", "The header has no end.", f"End it with a line `{_CLOSING}`.", opening + 1
    )


def _no_header(lines: list[str]) -> Finding:
    remedy = f"Begin the file with `{_OPENING}`, the metadata as TOML in comments, and `{_CLOSING}`."
    for number, line in enumerate(lines):
        if re.fullmatch(r"\s*#?\s*//+\s*spade\s*", line, re.IGNORECASE):
            found = "The header's first line is misspelt, or code stands before it."
            return Finding("header.missing", found, remedy, number + 1)
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
            shown = repr(value) if len(repr(value)) <= 80 else repr(value)[:77] + "..."
            yield Finding(f"header.{name}", f"`{name}` is {shown}.", f"Write {KEYS[name].expected}.", line)


def _missing(places: dict[str, int]) -> Iterator[Finding]:
    for name, key in KEYS.items():
        if key.needed and name not in places:
            remedy = f"Add a line `# {name} = ...`: {key.expected}."
            yield Finding("header.missing-key", f"The header lacks `{name}`.", remedy, 0)


def _wrong_together(data: dict[str, Any], places: dict[str, int], statements: list[str]) -> Iterator[Finding]:
    if data.get("origin") == "generated" and "generation_round" not in places:
        remedy = f"Add a line `# generation_round = ...`: {KEYS['generation_round'].expected}."
        yield Finding("header.generation_round", "A generated environment lacks its round.", remedy, 0)
    if data.get("origin") == "seed" and "generation_round" in places:
        found, line = "A seed environment has no round.", places["generation_round"]
        yield Finding(
            "header.generation_round", found, 'Delete the line, or write origin = "generated".', line
        )
    id_line = places.get("id", 0)
    if _is_plain(data.get("id")) and f'"{data["id"]}"' not in statements[id_line - 1].replace("'", '"'):
        found = "The id is not written in one piece."
        yield Finding("header.id", found, f'Write `# id = "{data["id"]}"` on one line.', id_line)


def _is_plain(value: Any) -> bool:
    return KEYS["id"].accepts(value)


def _at(finding: Finding, line: int) -> Finding:
    return Finding(finding.rule, finding.found, finding.remedy, line)
