"""What was gathered of one version: its two files, and what was seen of it in a worker. Only values."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from spade_envs.admission.evidence import Evidence
from spade_envs.contract.findings import Finding
from spade_envs.contract.ids import EnvId
from spade_envs.registry.integrity import Reading


@dataclass(frozen=True, slots=True)
class Place:
    """Where a version stands, or a folder that cannot hold any.

    Attributes:
        root: the registry's folder.
        path: the source file, or the folder.
        id: the version; None of a folder.
        finding: what is wrong with a folder.
    """

    root: Path
    path: Path
    id: EnvId | None
    finding: Finding | None = None

    def __str__(self) -> str:
        return str(self.id or self.path)


@dataclass(frozen=True, slots=True)
class Gathered:
    """All that is known of a version before anybody says what is wrong.

    Attributes:
        reading: its two files.
        evidence: what was seen in a worker, where the source could be given to one.
    """

    reading: Reading
    evidence: Evidence | None
