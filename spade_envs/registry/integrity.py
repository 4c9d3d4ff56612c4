"""Which versions lie in a folder, what their two files hold, and what is wrong with them.

Nothing here raises for what a file holds, and nothing is skipped: :class:`Registry` shows what can be used, this
module says what cannot.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spade_envs.contract.findings import Finding, Rejection
from spade_envs.contract.header import Header, code_sha256, file_sha256, parse_header
from spade_envs.contract.ids import ID_FORM, NAMESPACE, EnvId
from spade_envs.contract.plain import from_json

SOURCE_LIMIT = 64 * 1024
"""Bytes of a source, as the contract has it."""
REPORT_LIMIT = 1024 * 1024
"""Bytes of a report: a hundred times what one takes."""
_FILE = re.compile(r"v(0|[1-9][0-9]{0,8})\.(py|json)")
RESTORE = "Get both files again as they were, or admit the source by itself, as a new version."

ALONE = "Restore it; where a write was cut off here, nobody ever had this version: remove the report that it left."


@dataclass(frozen=True, slots=True)
class Missing:
    """Why there are no bytes, in a few words."""

    why: str


@dataclass(frozen=True, slots=True)
class Listing:
    """What lies in a registry's folder.

    Attributes:
        ids: every number that either file of a version takes, by name and version.
        faults: path and finding of what cannot be looked into, or stands where no version can.
    """

    ids: tuple[EnvId, ...]
    faults: tuple[tuple[Path, Finding], ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """A version as read from its two files.

    Attributes:
        source: its text, where it is one.
        header: its header, where it has a right one.
        report: its report, where it can be read.
        findings: what is wrong with either file, and what older reports lack (these only warn).
    """

    source: str | None
    header: Header | None
    report: dict[str, Any] | None
    findings: tuple[Finding, ...]

    @property
    def faults(self) -> tuple[Finding, ...]:
        """What is wrong, without the warnings."""
        return tuple(finding for finding in self.findings if finding.severity == "refuse")


def versions_in(root: Path) -> Listing:
    """Return which versions lie in a folder, readable or not.

    Raises:
        OSError: the folder itself cannot be read.
    """
    ids: list[EnvId] = []
    faults: list[tuple[Path, Finding]] = []
    for folder in sorted(path for path in root.iterdir() if path.is_dir()):
        try:
            names = {path.name for path in folder.iterdir()}
        except OSError as error:
            says = f"the folder cannot be read: {error.strerror or error}"
            faults.append((folder, Finding("files.unreadable", says, "Give leave to read it.")))
            continue
        found = {env_id for name in names if (env_id := version_of(folder.name, name))}
        ids += sorted(found)
        if not found and any(_FILE.fullmatch(name) for name in names):
            says = "versions lie in it, but its name is none of an environment"
            faults.append((folder, Finding("files.place", says, f"Name it as the ids are: {ID_FORM}.")))
    return Listing(tuple(ids), tuple(faults))


def version_of(folder: str, file: str) -> EnvId | None:
    """Return the version that a file in a folder belongs to, None where that is no place of one."""
    match = _FILE.fullmatch(file)
    found = EnvId.parse(f"{NAMESPACE}/{folder}-v{match[1]}") if match else None
    return found if isinstance(found, EnvId) else None


def examined_at(root: Path, env_id: EnvId) -> Reading:
    """Read a version of a registry's folder, as :func:`examined`."""
    path = root / env_id.name / f"v{env_id.version}.py"
    return examined(env_id, bounded(path, SOURCE_LIMIT), bounded(path.with_suffix(".json"), REPORT_LIMIT))


def examined(wanted: EnvId, source: bytes | Missing, report: bytes | Missing) -> Reading:
    """Read both files of a version and say everything that is wrong with them.

    Args:
        wanted: the id that their place stands for.
        source: bytes of ``vN.py``.
        report: bytes of ``vN.json``.
    """
    text = _decoded(source, f"v{wanted.version}.py", RESTORE if isinstance(report, Missing) else ALONE)
    data = _parsed(report, f"v{wanted.version}.json")
    findings = [part for part in (text, data) if isinstance(part, Finding)]
    if not isinstance(text, str):
        return Reading(None, None, None if isinstance(data, Finding) else data, tuple(findings))
    recorded = None if isinstance(data, Finding) else data
    header = parse_header(text)
    if recorded is not None:
        findings += compared(text, recorded)
    findings += _placed(wanted, header, recorded)
    return Reading(text, header if isinstance(header, Header) else None, recorded, tuple(findings))


def compared(source: str, recorded: Mapping[str, Any]) -> Iterator[Finding]:
    """Compare a source with the hashes that were recorded of it."""
    for key, found in (("file_sha256", file_sha256(source)), ("code_sha256", code_sha256(source))):
        if key not in recorded:
            says = f"the record lacks {key}, so that it cannot be compared"
            severity = (
                "refuse" if key == "file_sha256" else "warn"
            )  # the first opens the version, the second does not
            yield Finding("files.no-hash", says, RESTORE, severity=severity)  # type: ignore[arg-type]
        elif recorded[key] != found:
            says = f"its {key} is {found[:16]}..., the recorded one is {str(recorded[key])[:16]}..."
            yield Finding("files.hash", says, RESTORE)


def bounded(path: Path, limit: int) -> bytes | Missing:
    """Return a file's bytes, at most one more than the limit, or why there are none."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return Missing("is no regular file")
        with path.open("rb") as file:
            return file.read(limit + 1)
    except FileNotFoundError:
        return Missing("is missing")
    except OSError as error:
        return Missing(f"cannot be read: {error.strerror or error}")


def _decoded(data: bytes | Missing, name: str, mend: str) -> str | Finding:
    if isinstance(data, Missing):
        return Finding("files.unreadable", f"{name} {data.why}", mend)
    if len(data) > SOURCE_LIMIT:
        return _unreadable(name, f"has more than {SOURCE_LIMIT} bytes")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        return _unreadable(name, f"is no UTF-8 text: byte {error.start}")


def _parsed(data: bytes | Missing, name: str) -> dict[str, Any] | Finding:
    if isinstance(data, Missing):
        return _unreadable(name, data.why)
    if len(data) > REPORT_LIMIT:
        return _unreadable(name, f"has more than {REPORT_LIMIT} bytes")
    try:
        report = from_json(data.decode("utf-8", "surrogatepass"))
    except ValueError as error:
        return _unreadable(name, f"is no JSON: {error}")
    return report if isinstance(report, dict) else _unreadable(name, "holds no JSON object")


def _unreadable(name: str, why: str) -> Finding:
    return Finding("files.unreadable", f"{name} {why}", RESTORE)


def _placed(wanted: EnvId, header: Header | Rejection, recorded: dict[str, Any] | None) -> Iterator[Finding]:
    """Hold what the two files say of themselves against their place."""
    if isinstance(header, Rejection):
        yield Finding("files.header", f"its header is broken: {header.findings[0].found}", RESTORE)
    elif header.id != wanted:
        says = f"its header says {header.id}, its place says {wanted}"
        yield Finding("files.place", says, "Move both files to the place of their id.")
    if recorded is not None and recorded.get("id", str(wanted)) != str(wanted):
        says = f"its report is of {str(recorded['id'])[:80]}, its place says {wanted}"
        yield Finding("files.place", says, "Put each version's own report beside it.")
