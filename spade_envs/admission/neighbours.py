"""What a design is compared with: the versions of the registries, and the held-out environments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from spade_envs.admission.fingerprint import Fingerprint, from_dict, of_source
from spade_envs.contract.findings import Rejection
from spade_envs.contract.header import code_sha256, parse_header
from spade_envs.registry.paths import seeds_folder
from spade_envs.registry.store import Registry
from spade_envs.registry.versions import Entry


@dataclass(frozen=True, slots=True)
class Neighbour:
    """One environment that a design may resemble.

    Attributes:
        id: its id.
        parent: the id that it was derived from, if any.
        code_sha256: hash of its code.
        fingerprint: from its report, or from its source alone where the report has none.
        held_out: whether it is held out: never shown to a designer, so that nothing may be like it.
    """

    id: str
    parent: str | None
    code_sha256: str
    fingerprint: Fingerprint
    held_out: bool = False


_known: dict[Path, tuple[Entry, Neighbour]] = {}


def neighbours(registries: Iterable[Registry], held_out: Path | None = None) -> tuple[Neighbour, ...]:
    """Return everything that a new design is compared with.

    Args:
        registries: where versions stand.
        held_out: folder of the held-out environments; that of this package where missing.
    """
    folder = held_out or seeds_folder() / "heldout"
    entries = (entry for registry in registries for entry in registry.entries())
    kept_out = (found for path in sorted(folder.glob("*.py")) for found in _held_out(path))
    return (*map(_of_entry, entries), *kept_out)


def shown(sources: Iterable[str]) -> tuple[Neighbour, ...]:
    """Return sources that stand in no registry as neighbours, known by their code and rules alone."""
    return tuple(
        Neighbour(str(header.id), None, code_sha256(source), _of_source(source))
        for source in sources
        if not isinstance(header := parse_header(source), Rejection)
    )


def _of_entry(entry: Entry) -> Neighbour:
    known = _known.get(entry.path)
    if known is None or known[0] is not entry:  # a registry gives the same object while its files stay
        parent = str(entry.header.parent) if entry.header.parent else None
        seen = stored(entry.report) or of_source(entry.source)
        code = str(entry.report.get("code_sha256") or code_sha256(entry.source))
        known = _known[entry.path] = (entry, Neighbour(str(entry.header.id), parent, code, seen))
    return known[1]


def _held_out(path: Path) -> Iterator[Neighbour]:
    source = path.read_text("utf-8")
    header = parse_header(source)
    if not isinstance(header, Rejection):
        yield Neighbour(str(header.id), None, code_sha256(source), _of_source(source), held_out=True)


_of_source = lru_cache(maxsize=256)(of_source)


def stored(report: dict[str, Any]) -> Fingerprint | None:
    """Return the fingerprint in an admission report, or None: reports of earlier policies have none."""
    gates = report.get("gates")
    for gate in gates if isinstance(gates, list) else ():
        if isinstance(gate, dict) and gate.get("name") == "novelty":
            return from_dict(gate.get("saw", {}).get("fingerprint"))
    return None
