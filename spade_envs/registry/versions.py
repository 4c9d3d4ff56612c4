"""One version as it lies in a registry's folder: ``<Name>/vN.py`` and its report ``vN.json``."""

from __future__ import annotations

import contextlib
import json
import os
import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spade_envs.contract.findings import Rejection
from spade_envs.contract.header import Header, file_sha256, parse_header
from spade_envs.contract.ids import EnvId
from spade_envs.contract.printable import printable

REFUSED_FOLDER = "refused"  # no name of an environment: those begin with a capital
READ_ONLY_FILE = ".read-only"
"""A folder that holds this file is never written to, whoever opens it: what a package brought."""
_NAME = re.compile(r"[A-Z][A-Za-z0-9]{0,59}")
_VERSION_FILE = re.compile(r"v(0|[1-9][0-9]{0,8})\.(py|json)")


class RegistryWarning(UserWarning):
    """A file of a registry was skipped; the message names it and says why."""

    def __str__(self) -> str:
        return printable(super().__str__())


@dataclass(frozen=True, slots=True)
class Entry:
    """One version as read from its two files."""

    path: Path
    header: Header
    source: str
    report: dict[str, Any]
    file_sha256: str


def read_version(path: Path) -> Entry | str:
    """Read a version's two files, or say what is wrong with them and what to do."""
    report_path = path.with_suffix(".json")
    if any(one.exists() and not one.is_file() for one in (path, report_path)):
        return "it is no file, or its report is none; restore both files, or remove them"  # a pipe never ends
    try:
        source = path.read_bytes().decode()
        report = json.loads(report_path.read_bytes())
    except FileNotFoundError as error:
        return f"{Path(error.filename).name} is missing; restore it, or admit the source again"
    except (OSError, ValueError, RecursionError) as error:
        return f"it cannot be read ({error}); restore both files, or remove them"
    found = file_sha256(source)
    if not isinstance(report, dict) or report.get("file_sha256") != found:
        return (
            f"its hash is not the one in {report_path.name}; restore both files, or admit it as a new version"
        )
    if not isinstance(report.get("code_sha256"), str):
        return f"{report_path.name} was changed: it has no code_sha256; restore it"
    header = parse_header(source)
    if isinstance(header, Rejection):
        return f"its header is broken ({header.findings[0].found}); restore it"
    if header.id != (wanted := EnvId(path.parent.name, int(path.stem[1:]))):
        return f"its header says {header.id}, its place says {wanted}; move it back"
    return Entry(path, header, source, report, found)


def is_name(text: str) -> bool:
    """Say whether a folder of this name may hold versions."""
    return _NAME.fullmatch(text) is not None


def listing(folder: Path) -> list[str]:
    """The names of what lies in a folder, sorted; none where it cannot be read."""
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        warnings.warn(f"skipped {folder}: {error.strerror}", RegistryWarning, stacklevel=4)
        return []


def numbers(folder: Path) -> set[int]:
    """The version numbers that are taken in a name's folder."""
    return {int(match[1]) for name in listing(folder) if (match := _VERSION_FILE.fullmatch(name))}


def stamp(path: Path) -> tuple[int, ...]:
    """What changes when either file of a version does."""
    stamps: list[int] = []
    for file in (path, path.with_suffix(".json")):
        with contextlib.suppress(OSError):
            status = file.stat()
            stamps += (status.st_ino, status.st_size, status.st_mtime_ns)
    return tuple(stamps)
