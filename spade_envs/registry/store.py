"""One registry: a folder of immutable versions, ``<root>/<Name>/vN.py``, each with its report ``vN.json``.

Writing order makes a crash harmless. The report is linked into place first and claims the number, the source
follows; a version exists once its source does, so that it is never seen without its report. A number whose
write was cut off is not used again.
"""

from __future__ import annotations

import contextlib
import json
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spade_envs.contract.findings import Rejection
from spade_envs.contract.header import Header, code_sha256, file_sha256, parse_header, set_version
from spade_envs.contract.ids import EnvId
from spade_envs.contract.printable import printable
from spade_envs.errors import RegistryError, UnknownEnvironment
from spade_envs.registry.files import link, locked, made, staged, try_to_write

REFUSED_FOLDER = "refused"  # no name of an environment: those begin with a capital
_ANOTHER = "name another folder with --registry or SPADE_REGISTRY"
_VERSION_FILE = re.compile(r"v(0|[1-9][0-9]*)\.(?:py|json)")


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


class Registry:
    """The environments under one folder.

    Files are read when they are asked for and remembered while they stay as they are. A file that is
    half-written, edited by hand or without its report is skipped with one warning that names it.

    Args:
        root: the folder; it need not exist before the first :meth:`add`.
        read_only: whether :meth:`add` is refused.
    """

    def __init__(self, root: Path, read_only: bool = False) -> None:
        self.root = Path(root).absolute()
        self.read_only = read_only
        self._read: dict[Path, tuple[tuple[int, ...], Entry | None]] = {}

    def __repr__(self) -> str:
        return f"Registry({str(self.root)!r}{', read_only=True' if self.read_only else ''})"

    def __str__(self) -> str:
        return printable(str(self.root))

    def ids(self) -> list[EnvId]:
        """Return the ids that can be made, by name and version."""
        return [entry.header.id for entry in self.entries()]

    def entries(self) -> Iterator[Entry]:
        """Yield every readable version, by name and version."""
        for folder in _listing(self.root):
            if folder.name == REFUSED_FOLDER:
                continue
            for version in sorted(_numbers(folder)):
                path = folder / f"v{version}.py"
                if path.is_file() and (entry := self._entry(path)) is not None:
                    yield entry

    def entry(self, env_id: EnvId) -> Entry:
        """Return one version. Raises UnknownEnvironment where this registry does not hold it."""
        path = self.root / env_id.name / f"v{env_id.version}.py"
        entry = self._entry(path) if path.is_file() else None
        if entry is None:
            raise UnknownEnvironment(
                f"{self} holds no readable {env_id}; `spade-envs list` shows what there is"
            )
        return entry

    def path(self, env_id: EnvId) -> Path:
        """Return the source file of a version."""
        return self.entry(env_id).path

    def source(self, env_id: EnvId) -> str:
        """Return the source of a version, as it stands in its file."""
        return self.entry(env_id).source

    def header(self, env_id: EnvId) -> Header:
        """Return the header of a version."""
        return self.entry(env_id).header

    def report(self, env_id: EnvId) -> dict[str, Any]:
        """Return the admission report of a version."""
        return self.entry(env_id).report

    def find_code(self, code: str) -> EnvId | None:
        """Return the first version whose code below the header has this SHA-256."""
        return next((e.header.id for e in self.entries() if e.report.get("code_sha256") == code), None)

    def next_version(self, name: str) -> int:
        """Return the lowest number above all that were ever taken for a name here, readable or not."""
        return max(_numbers(self.root / name), default=-1) + 1

    def add(self, source: str, report: dict[str, Any], *, floor: int = 0) -> EnvId:
        """Write a source and its report as the next free version of its name, for good.

        Args:
            source: an admitted source; the version in its header is rewritten to the one that was free.
            report: JSON-ready data; ``id`` and the two hashes are set here.
            floor: the least version to take, where registries below this one hold lower ones.

        Raises:
            RegistryError: the folder is read-only, or it cannot be written.
        """
        self._check_writable()
        header = parse_header(source)
        if isinstance(header, Rejection):
            raise RegistryError(f"a source without a right header cannot be stored:\n{header.text()}")
        version = max(floor, self.next_version(header.id.name))
        try:
            while not self._publish(EnvId(header.id.name, version), source, report):
                version += 1
        except OSError as error:
            raise RegistryError(
                f"cannot write {header.id.name} into {self}: {error.strerror or error}"
            ) from error
        return EnvId(header.id.name, version)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold this registry's lock, so that what is found out in the block still holds when it writes.

        Raises:
            RegistryError: the folder is read-only, or it cannot be locked.
        """
        self._check_writable()
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(locked(self.root))
            except OSError as error:
                raise RegistryError(f"cannot lock {self}: {error.strerror or error}") from error
            yield

    def check(self, *, writable: bool = False) -> None:
        """Look whether this registry can be used, before work is done for it. A folder is not made for that.

        Raises:
            RegistryError: it is no folder or, where it is to be written, cannot be written.
        """
        if self.root.exists() and not self.root.is_dir():
            raise RegistryError(f"{self} is no folder; {_ANOTHER}")
        if writable:
            self._check_writable()
            try:
                try_to_write(self.root)
            except OSError as error:
                raise RegistryError(
                    f"cannot write into {self}: {error.strerror or error}; make room or give leave, or {_ANOTHER}"
                ) from error

    def _check_writable(self) -> None:
        if self.read_only:
            raise RegistryError(f"{self} is read-only; {_ANOTHER}")

    def _publish(self, env_id: EnvId, source: str, report: dict[str, Any]) -> bool:
        """Write both files of a version; False where another process has taken its number."""
        text = set_version(source, env_id.version)
        hashes = {"code_sha256": code_sha256(text), "file_sha256": file_sha256(text)}
        record = json.dumps({**report, "id": str(env_id), **hashes}, indent=1, ensure_ascii=False) + "\n"
        folder = self.root / env_id.name
        number = folder / f"v{env_id.version}"
        with made(folder), staged(folder, record) as new_report, staged(folder, text) as new_source:
            return link(new_report, number.with_suffix(".json")) and link(
                new_source, number.with_suffix(".py")
            )

    def _entry(self, path: Path) -> Entry | None:
        """Read one version, or warn once and return None."""
        stamp = _stamp(path)
        known = self._read.get(path)
        if known is None or known[0] != stamp:
            entry = _read_version(path)
            if isinstance(entry, str):
                warnings.warn(f"skipped {path}: {entry}", RegistryWarning, stacklevel=4)
            known = self._read[path] = (stamp, None if isinstance(entry, str) else entry)
        return known[1]


def _read_version(path: Path) -> Entry | str:
    """Read a version's two files, or say what is wrong with them and what to do."""
    report_path = path.with_suffix(".json")
    try:
        source = path.read_bytes().decode()
        report = json.loads(report_path.read_bytes())
    except FileNotFoundError as error:
        return f"{Path(error.filename).name} is missing; restore it, or admit the source again"
    except (OSError, ValueError) as error:
        return f"it cannot be read ({error}); restore both files, or remove them"
    found = file_sha256(source)
    if not isinstance(report, dict) or report.get("file_sha256") != found:
        return (
            f"its hash is not the one in {report_path.name}; restore both files, or admit it as a new version"
        )
    header = parse_header(source)
    if isinstance(header, Rejection):
        return f"its header is broken ({header.findings[0].found}); restore it"
    if header.id != (wanted := EnvId(path.parent.name, int(path.stem[1:]))):
        return f"its header says {header.id}, its place says {wanted}; move it back"
    return Entry(path, header, source, report, found)


def _listing(folder: Path) -> list[Path]:
    """What lies in a folder, sorted; nothing where it cannot be read."""
    try:
        return sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        warnings.warn(f"skipped {folder}: {error.strerror}", RegistryWarning, stacklevel=4)
        return []


def _numbers(folder: Path) -> set[int]:
    """The version numbers that are taken in a name's folder."""
    return {int(match[1]) for path in _listing(folder) if (match := _VERSION_FILE.fullmatch(path.name))}


def _stamp(path: Path) -> tuple[int, ...]:
    """What changes when either file of a version does."""
    stamps: list[int] = []
    for file in (path, path.with_suffix(".json")):
        with contextlib.suppress(OSError):
            status = file.stat()
            stamps += (status.st_ino, status.st_size, status.st_mtime_ns)
    return tuple(stamps)
