"""One registry: a folder of immutable versions, ``<root>/<Name>/vN.py``, each with its report ``vN.json``, and beside
them what is on record of them, ``<root>/records.db``.

Writing order makes a crash harmless. What is about to be written is noted in the records; the report is linked into
place and claims the number; the source follows, and the version exists; then it is put on record. It is never seen
without its report, and one that was not put on record is when the registry is next opened. A number whose write was
cut off is not used again.
"""

from __future__ import annotations

import contextlib
import json
import threading
import warnings
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spade_envs.contract.findings import Rejection
from spade_envs.contract.header import Header, code_sha256, file_sha256, parse_header, set_version
from spade_envs.contract.ids import EnvId
from spade_envs.contract.printable import printable
from spade_envs.errors import RegistryError, UnknownEnvironment
from spade_envs.registry.files import link, locked, made, staged, try_to_write
from spade_envs.registry.recording import Recorder
from spade_envs.registry.versions import (
    READ_ONLY_FILE,
    Entry,
    RegistryWarning,
    is_name,
    listing,
    numbers,
    read_version,
    stamp,
)

if TYPE_CHECKING:
    from spade_envs.records import Database

_ANOTHER = "name another folder with --registry or SPADE_REGISTRY"
_MOST_REMEMBERED = 2_000


class Registry:
    """The environments under one folder.

    Files are read when they are asked for and remembered while they stay as they are. A file that is
    half-written, edited by hand or without its report is skipped with one warning that names it.

    Args:
        root: the folder; it need not exist before the first :meth:`add`.
        read_only: whether :meth:`add` is refused; it is, too, where the folder holds a file ``.read-only``.
    """

    def __init__(self, root: Path, read_only: bool = False) -> None:
        self.root = Path(root).absolute()
        self.read_only = read_only or (self.root / READ_ONLY_FILE).exists()
        self._read: dict[Path, tuple[tuple[int, ...], Entry | None]] = {}
        self._recorder = Recorder(self)
        self._lock = threading.local()

    def __repr__(self) -> str:
        return f"Registry({str(self.root)!r}{', read_only=True' if self.read_only else ''})"

    def __str__(self) -> str:
        return printable(str(self.root))

    @property
    def records(self) -> Database:
        """What is on record of this registry. Where that cannot be used it is made from the files, in memory."""
        return self._recorder.to_read()

    @property
    def own_records(self) -> Database:
        """What is on record of this registry, to be read and written.

        Raises:
            RegistryError: the registry is read-only, or its records cannot be used. The message says why.
        """
        self._check_writable()
        return self._recorder.to_write()

    def names(self) -> list[str]:
        """Return the names of all environments, sorted, without opening a file."""
        return [name for name in listing(self.root) if is_name(name)]

    def ids(self) -> list[EnvId]:
        """Return the ids that can be made, by name and version. It reads every file."""
        return [entry.header.id for entry in self.entries()]

    def entries(self) -> Iterator[Entry]:
        """Yield every readable version, by name and version."""
        return self.entries_but(dict.fromkeys(self.names(), ()))

    def entries_but(self, without: Mapping[str, Collection[int]]) -> Iterator[Entry]:
        """Yield the readable versions of each name given, without those that are given with it."""
        for name, left_out in without.items():
            for version in sorted(numbers(self.root / name).difference(left_out)):
                if (entry := self._found(EnvId(name, version))) is not None:
                    yield entry

    def entry(self, env_id: EnvId) -> Entry:
        """Return one version. Raises UnknownEnvironment where this registry does not hold it."""
        entry = self._found(env_id)
        if entry is None:
            raise UnknownEnvironment(
                f"{self} holds no readable {env_id}; `spade-envs list` shows what there is"
            )
        return entry

    def holds(self, env_id: EnvId) -> bool:
        """Say whether a version can be read here."""
        return self._found(env_id) is not None

    def newest(self, name: str) -> EnvId | None:
        """Return the highest readable version of a name, None where there is none."""
        versions = (EnvId(name, version) for version in sorted(numbers(self.root / name), reverse=True))
        return next((env_id for env_id in versions if self.holds(env_id)), None)

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
        return self._recorder.by_code(code)

    def next_version(self, name: str) -> int:
        """Return the lowest number above all that were ever taken for a name here, readable or not."""
        return max(numbers(self.root / name), default=-1) + 1

    def add(self, source: str, report: dict[str, Any], *, floor: int = 0) -> EnvId:
        """Write a source and its report as the next free version of its name, for good, and put it on record.

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
        with self.locked(), self._recorder.announced(header.id.name):
            return self._written(header.id.name, source, report, floor)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold this registry's lock, so that what is found out in the block still holds when it writes.

        A thread that holds it may take it again.

        Raises:
            RegistryError: the folder is read-only, or it cannot be locked.
        """
        self._check_writable()
        with contextlib.ExitStack() as stack:
            if not getattr(self._lock, "held", False):
                try:
                    stack.enter_context(locked(self.root))
                except OSError as error:
                    raise RegistryError(f"cannot lock {self}: {error.strerror or error}") from error
                self._lock.held = True
                stack.callback(setattr, self._lock, "held", False)
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
            if self.root.exists():
                self._recorder.to_write()

    def _check_writable(self) -> None:
        if self.read_only:
            raise RegistryError(f"{self} is read-only; {_ANOTHER}")

    def _written(self, name: str, source: str, report: dict[str, Any], floor: int) -> EnvId:
        version = max(floor, self.next_version(name))
        try:
            while not self._publish(EnvId(name, version), source, report):
                version += 1
        except OSError as error:
            raise RegistryError(f"cannot write {name} into {self}: {error.strerror or error}") from error
        return EnvId(name, version)

    def _publish(self, env_id: EnvId, source: str, report: dict[str, Any]) -> bool:
        """Write both files of a version; False where its number is taken, be it by what a crash left."""
        text = set_version(source, env_id.version)
        hashes = {"code_sha256": code_sha256(text), "file_sha256": file_sha256(text)}
        record = json.dumps({**report, "id": str(env_id), **hashes}, indent=1, ensure_ascii=False) + "\n"
        folder = self.root / env_id.name
        number = folder / f"v{env_id.version}"
        with made(folder), staged(folder, record) as new_report, staged(folder, text) as new_source:
            return link(new_report, number.with_suffix(".json")) and link(
                new_source, number.with_suffix(".py")
            )

    def _found(self, env_id: EnvId) -> Entry | None:
        """Read one version, or return None; of one that is broken it is warned once."""
        path = self.root / env_id.name / f"v{env_id.version}.py"
        if not path.is_file():
            return None
        now = stamp(path)
        known = self._read.get(path)
        if known is None or known[0] != now:
            entry = read_version(path)
            if isinstance(entry, str):
                warnings.warn(f"skipped {path}: {entry}", RegistryWarning, stacklevel=4)
            known = (now, None if isinstance(entry, str) else entry)
            self._remember(path, known)
        return known[1]

    def _remember(self, path: Path, known: tuple[tuple[int, ...], Entry | None]) -> None:
        if len(self._read) >= _MOST_REMEMBERED:
            oldest = next((path for path, (_, entry) in self._read.items() if entry is not None), None)
            self._read.pop(oldest, None)  # type: ignore[arg-type]
        self._read[path] = known
