"""The refused designs of a registry, with their reasons, since whoever designs the next one learns from them.

They lie in ``<root>/refused``: ``<first 16 digits of code_sha256>.py`` and beside it the report, ``.json``. The
source is written first, so that a report never stands without it.
"""

from __future__ import annotations

import contextlib
import json
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spade_envs.contract.given import given
from spade_envs.errors import RegistryError
from spade_envs.registry.files import made, replace
from spade_envs.registry.versions import REFUSED_FOLDER, RegistryWarning

if TYPE_CHECKING:
    from spade_envs.records import Refusal
    from spade_envs.registry.store import Registry

MOST_KEPT = 10_000


@dataclass(frozen=True, slots=True)
class Refused:
    """A design that was refused.

    Attributes:
        path: its source, as it was when it was last refused.
        report: the last report, with ``times``, ``first_refused_at`` and ``last_refused_at``.
    """

    path: Path
    report: dict[str, Any]

    @property
    def id(self) -> str | None:
        """The id in its header, None where that could not be read."""
        found: str | None = given(self.report, "id", str)
        return found

    @property
    def gate(self) -> str:
        """The first gate that it did not pass."""
        names = (given(gate, "name", str) for gate in self._gates if not gate.get("passed"))
        return next((name for name in names if name), "")

    @property
    def reasons(self) -> tuple[str, ...]:
        """What refused it, each finding with its rule."""
        found = [
            f for gate in self._gates for f in given(gate, "findings", list) or () if isinstance(f, dict)
        ]
        return tuple(f"{f.get('found')} [{f.get('rule')}]" for f in found if f.get("severity") != "warn")

    @property
    def _gates(self) -> list[dict[str, Any]]:
        return [gate for gate in self.report.get("gates", ()) if isinstance(gate, dict)]

    def as_refusal(self) -> Refusal:
        """Return the entry as records have it."""
        from spade_envs.records import Refusal

        report = self.report
        return Refusal(
            code_sha256=given(report, "code_sha256", str) or self.path.stem,
            id=self.id,
            gate=self.gate,
            reasons=self.reasons,
            times=given(report, "times", int) or 1,
            first_at=given(report, "first_refused_at", str) or "",
            last_at=given(report, "last_refused_at", str) or "",
            run=given(report, "run", str),
            round=given(report, "round", int),
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the entry as JSON-ready data."""
        return {**self.report, "path": str(self.path), "reasons": list(self.reasons)}


def keep_refused(registry: Registry, source: str, report: dict[str, Any], *, most: int = MOST_KEPT) -> Path:
    """Keep a refused source and its report; the same code takes its earlier place and is counted.

    Args:
        registry: in whose folder it is kept.
        source: as it was judged.
        report: JSON-ready data with ``code_sha256``.
        most: how many are kept; the oldest go.

    Returns:
        The path of the source.

    Raises:
        RegistryError: the folder is read-only, or it cannot be written.
    """
    from spade_envs.records import filing

    with registry.locked(), registry.own_records.writing() as connection:
        try:
            with made(folder := registry.root / REFUSED_FOLDER):
                kept = _keep(folder, source, report, most)
        except OSError as error:
            raise RegistryError(
                f"cannot keep the refused design in {registry}/{REFUSED_FOLDER}: {error.strerror or error}"
            ) from error
        filing.enter_refusal(connection, kept.as_refusal())
    return kept.path


def refused_designs(root: Path) -> Iterator[Refused]:
    """Yield the refused designs of a registry's folder, the newest first; broken files are skipped with a warning."""
    for path in _by_age(root / REFUSED_FOLDER):
        report = _read(path)
        if report is None:
            warnings.warn(f"skipped {path}: it is no report; remove it", RegistryWarning, stacklevel=2)
        else:
            yield Refused(path.with_suffix(".py"), report)


def refused_design(root: Path, code_sha256: str) -> Refused | None:
    """Return one refused design of a registry's folder, None where it is not kept."""
    path = root / REFUSED_FOLDER / f"{code_sha256[:16]}.py"
    report = _read(path.with_suffix(".json"))
    return None if report is None else Refused(path, report)


def _keep(folder: Path, source: str, report: dict[str, Any], most: int) -> Refused:
    path = folder / f"{report['code_sha256'][:16]}.py"
    before = _read(path.with_suffix(".json")) or {}
    now = datetime.now(UTC).isoformat(timespec="seconds")
    times = {"times": before.get("times", 0) + 1, "first_refused_at": before.get("first_refused_at", now)}
    record = {**report, **times, "last_refused_at": now}
    replace(path, source)
    try:
        replace(path.with_suffix(".json"), json.dumps(record, indent=1, ensure_ascii=True) + "\n")
    except BaseException:
        if not before:  # a source without a report would lie there unseen
            path.unlink()
        raise
    for old in _by_age(folder)[most:]:
        _remove(old)
    return Refused(path, record)


def _remove(report: Path) -> None:
    """The report goes first: what has none is not listed."""
    for path in (report, report.with_suffix(".py")):
        with contextlib.suppress(FileNotFoundError):
            path.unlink()


def _read(path: Path) -> dict[str, Any] | None:
    try:
        report = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return report if isinstance(report, dict) and isinstance(report.get("gates"), list) else None


def _by_age(folder: Path) -> list[Path]:
    """Return the paths of the reports, the newest first."""
    ages: list[tuple[int, str]] = []
    with contextlib.suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".json"):
                with contextlib.suppress(FileNotFoundError):  # another process has removed it
                    ages.append((entry.stat().st_mtime_ns, entry.path))
    return [Path(path) for _, path in sorted(ages, reverse=True)]
