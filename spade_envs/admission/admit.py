"""From a verdict to a version in a registry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from spade_envs.admission.evidence import Surroundings
from spade_envs.admission.judging import judge
from spade_envs.admission.neighbours import neighbours, stored
from spade_envs.admission.novelty import came_since
from spade_envs.admission.report import Report
from spade_envs.admission.settings import Settings
from spade_envs.admission.sheet import GateResult
from spade_envs.contract.findings import Finding
from spade_envs.contract.header import Header, code_sha256, parse_header
from spade_envs.contract.ids import EnvId
from spade_envs.registry.gym_registration import install, spec_of
from spade_envs.registry.refused import keep_refused as keep
from spade_envs.registry.stack import holder_of, registries
from spade_envs.registry.store import Registry


@dataclass(frozen=True, slots=True)
class Admission:
    """What became of a design.

    Attributes:
        report: what was seen.
        id: the version that stands in the registry, None where the design was refused.
        path: its source file.
    """

    report: Report
    id: str | None = None
    path: Path | None = None


def admit(
    source: str,
    registry: Registry,
    *,
    run: str | None = None,
    round: int | None = None,
    settings: Settings = Settings(),  # noqa: B008 (frozen)
    around: Surroundings = Surroundings(),  # noqa: B008 (frozen)
    keep_refused: bool = True,
    provenance: Mapping[str, Any] | None = None,
) -> Admission:
    """Judge a design and, where it is admitted, write it as the next free version; Gymnasium makes it at once.

    Unchanged code is refused as a duplicate; the same run and round gets back the version that exists. What is
    much like a version of the stack or a held-out environment is refused by the gate on novelty.

    Args:
        source: the whole file.
        registry: where it is written.
        run: the run that made it.
        round: the round of that run.
        settings: how much is played, and the limits.
        around: what it is compared with, beside the stack and what is held out.
        keep_refused: whether a refused design is kept in the registry's folder, with its report.
        provenance: JSON-ready: how it was made (designer, prompt_sha256, sampling, document ...), kept in the report.

    Raises:
        IsolationError: this machine cannot start a worker.
        RegistryError: the registry cannot be written. That is looked at before anything is judged.
    """
    registry.check(writable=True)
    known = duplicate(source, registry, run, round)
    if known is not None:
        return known
    compared = surroundings(registry, around)
    report = judge(source, settings=settings, around=compared)
    return settle(
        source,
        report,
        registry,
        run=run,
        round=round,
        keep_refused=keep_refused,
        compared=compared,
        provenance=provenance,
    )


def surroundings(registry: Registry, around: Surroundings = Surroundings()) -> Surroundings:  # noqa: B008 (frozen)
    """Return what a design for this registry is compared with: the whole stack, and what is held out."""
    return replace(around, neighbours=(*around.neighbours, *neighbours(_stack(registry))))


def settle(
    source: str,
    report: Report,
    registry: Registry,
    *,
    run: str | None = None,
    round: int | None = None,
    keep_refused: bool = True,
    compared: Surroundings | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> Admission:
    """Do what a report says: write an admitted design as a version, keep a refused one with its reasons.

    Processes that settle the same code at the same moment make one version, and of designs that are near
    duplicates of each other one is admitted, if it is said what each was compared with.

    Raises:
        RegistryError: the registry cannot be written.
    """
    made = {"run": run, "round": round} | ({"provenance": dict(provenance)} if provenance else {})
    if not report.admitted:
        if keep_refused:
            keep(registry, source, {**report.as_dict(), **made})
        return Admission(report)
    header = parse_header(source)
    assert isinstance(header, Header)
    stamp = datetime.now(UTC).isoformat(timespec="seconds")
    record = {**report.as_dict(), **made, "admitted_at": stamp}
    with registry.locked():
        known = duplicate(source, registry, run, round)
        if known is not None:
            return known
        if compared is not None and (late := _came_since(header, report, registry, compared)) is not None:
            return Admission(late)
        floor = max(r.next_version(header.id.name) for r in _stack(registry))
        return _made(registry, registry.add(source, record, floor=floor), report)


def _came_since(header: Header, report: Report, registry: Registry, compared: Surroundings) -> Report | None:
    """Return the report of a refusal where a near duplicate has been added since the design was compared."""
    known = {other.id for other in compared.neighbours}
    others = [other for other in neighbours(_stack(registry)) if other.id not in known]
    seen = stored(report.as_dict())
    near = came_since(header, seen, others, Settings()) if seen and others else None
    if near is None:
        return None
    found = f"it is a near duplicate of {near.id}, which was added while this one was judged"
    finding = Finding(
        "novelty.near-duplicate", found, "Write another environment, or judge it again as a variant."
    )
    return replace(
        report, gates=(*report.gates, GateResult("novelty", False, {"nearest": near.id}, (finding,)))
    )


def _made(registry: Registry, env_id: EnvId, report: Report) -> Admission:
    entry = registry.entry(env_id)
    if holder_of(env_id) is None:  # no registry of the stack: nobody would find it
        install()[str(env_id)] = spec_of(entry)
    return Admission(report, str(env_id), entry.path)


def checked(source: str, report: Report, registry: Registry) -> Admission:
    """Say what would become of a judged design, and write nothing: its report and, where its code is there already,
    the finding that :func:`settle` would refuse it with.
    """
    known = duplicate(source, registry)
    return Admission(replace(report, gates=(*report.gates, *known.report.gates)) if known else report)


def _stack(registry: Registry) -> tuple[Registry, ...]:
    return (registry, *(other for other in registries() if other.root != registry.root))


def duplicate(
    source: str, registry: Registry, run: str | None = None, round_: int | None = None
) -> Admission | None:
    """Say that this code is there already, if it is."""
    code = code_sha256(source)
    for holder in _stack(registry):
        env_id = holder.find_code(code)
        if env_id is None:
            continue
        kept = holder.report(env_id)
        if run is not None and (kept.get("run"), kept.get("round")) == (run, round_):
            return _made(holder, env_id, Report(str(env_id), code, (), 0.0))
        found = f"its code equals {env_id}, which stands in {holder}"
        remedy = "Change the code; another id, title or summary makes no new environment."
        finding = Finding("novelty.duplicate", found, remedy)
        result = GateResult("novelty", False, {"equals": str(env_id)}, (finding,))
        return Admission(Report(str(env_id), code, (result,), 0.0))
    return None
