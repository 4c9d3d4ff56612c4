"""From a source to a verdict, and from a verdict to a version in a registry."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from spade_envs.admission import content, gates, probes, review, scores, task_gates
from spade_envs.admission.behaviour import streams
from spade_envs.admission.evidence import Evidence, Surroundings
from spade_envs.admission.extensions import extensions
from spade_envs.admission.lab import Enough, Lab
from spade_envs.admission.neighbours import neighbours
from spade_envs.admission.novelty import novelty
from spade_envs.admission.report import Report, refused
from spade_envs.admission.settings import Settings
from spade_envs.admission.sheet import GateResult, Sheet
from spade_envs.contract.findings import Finding, Rejection
from spade_envs.contract.header import Header, code_sha256, parse_header
from spade_envs.contract.ids import EnvId
from spade_envs.errors import WorkerFault
from spade_envs.isolation import Worker
from spade_envs.registry.gym_registration import register
from spade_envs.registry.refused import keep_refused as keep
from spade_envs.registry.stack import registries
from spade_envs.registry.store import Registry

Probe = Callable[[Lab], None]
Gate = Callable[[Evidence, Settings, Sheet], None]
Stage = tuple[str, Probe | None, Gate]

# What is played and who judges it, the cheap ones first. A gate reads all evidence so far, not only its own.
STAGES: tuple[Stage, ...] = (
    ("form", probes.form, gates.form),
    ("runs", probes.runs, gates.runs),
    ("determinism", probes.determinism, gates.determinism),
    ("solvable", probes.solvable, gates.solvable),
    ("hint", None, task_gates.hint),
    ("short cuts", probes.short_cuts, task_gates.short_cut),
    ("reward", None, gates.reward),
    ("difficulty", probes.order, task_gates.difficulty),
    ("novelty", streams, novelty),
    ("content", content.read, content.content),
)
REVIEW: Stage = ("review", review.consult, review.review)


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


def judge(
    source: str,
    *,
    settings: Settings = Settings(),  # noqa: B008 (frozen)
    around: Surroundings = Surroundings(),  # noqa: B008 (frozen)
    all_gates: bool = False,
) -> Report:
    """Judge a design: play it in isolated workers and ask the gates, up to the first that fails.

    Args:
        source: the whole file.
        settings: what is played, and where the lines lie.
        around: what it is compared with; nothing by default, so that nothing is found to be a near duplicate.
        all_gates: whether every gate is asked that still can be; play ends with a fault all the same.

    Raises:
        IsolationError: this machine cannot start a worker. That is no verdict on the design.
        UsageError: an installed gate of another package cannot be loaded.
    """
    start = time.monotonic()
    stages = _all_stages(settings)
    header = parse_header(source)
    if isinstance(header, Rejection):
        return refused(_all_refusals(source, header), code_sha256(source))
    with Lab(source, header, settings) as lab:
        lab.evidence.source, lab.evidence.around = source, around
        results = tuple(_stages(lab, stages, all_gates))
    report = Report(str(header.id), code_sha256(source), results, time.monotonic() - start)
    return _scored(report, lab) if report.admitted else report


def _all_refusals(source: str, header: Rejection) -> Rejection:
    """Return what is wrong with a source's header, and with its code."""
    worker = Worker.start()
    try:
        found = worker.load(source)
    except WorkerFault:
        return header
    finally:
        worker.close()
    return found if isinstance(found, Rejection) else header


def _all_stages(settings: Settings) -> tuple[Stage, ...]:
    """Return this package's gates, those of others, and last the review: it costs the most."""
    others = extensions(taken=[name for name, *_ in (*STAGES, REVIEW)])
    asked = (REVIEW,) if settings.review else ()
    return (*STAGES, *((name, None, gate) for name, gate in others), *asked)


def _stages(lab: Lab, stages: tuple[Stage, ...], all_gates: bool) -> Iterator[GateResult]:
    """Ask the gates in turn. After a fault only those follow that need no further play, if anything was played."""
    plays = True
    for name, probe, gate in stages:
        if not plays and (probe or not any(episode.complete for episode in lab.evidence.episodes)):
            continue
        sheet = Sheet(name)
        try:
            if probe:
                probe(lab)
        except Enough:
            plays = False
            gates.faults(lab.evidence, sheet)
        if not sheet.refuses:
            gate(lab.evidence, lab.settings, sheet)
        yield sheet.result()
        if sheet.refuses and not all_gates:
            return


def _scored(report: Report, lab: Lab) -> Report:
    """Return the report of an admitted design with what it is worth."""
    settings = lab.settings
    worth = scores.scores(
        lab.evidence, scores.nearest(report.gates), settings.weights, settings.short_cut_limit
    )
    pool = scores.entry(worth.total, scores.random_probe(lab.evidence), settings.frontier)
    return replace(report, scores=worth, pool=pool)


def admit(
    source: str,
    registry: Registry,
    *,
    run: str | None = None,
    round: int | None = None,
    settings: Settings = Settings(),  # noqa: B008 (frozen)
    around: Surroundings = Surroundings(),  # noqa: B008 (frozen)
    keep_refused: bool = True,
) -> Admission:
    """Judge a design and, where it is admitted, write it as the next free version and register it at once.

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

    Raises:
        IsolationError: this machine cannot start a worker.
        RegistryError: the registry cannot be written.
    """
    known = duplicate(source, registry, run, round)
    if known is not None:
        return known
    report = judge(source, settings=settings, around=surroundings(registry, around))
    return settle(source, report, registry, run=run, round=round, keep_refused=keep_refused)


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
) -> Admission:
    """Do what a report says: write an admitted design as a version, keep a refused one with its reasons.

    Processes that settle the same code at the same moment make one version.

    Raises:
        RegistryError: the registry cannot be written.
    """
    if not report.admitted:
        if keep_refused:
            keep(registry, source, {**report.as_dict(), "run": run, "round": round})
        return Admission(report)
    header = parse_header(source)
    assert isinstance(header, Header)
    stamp = datetime.now(UTC).isoformat(timespec="seconds")
    record = {**report.as_dict(), "run": run, "round": round, "admitted_at": stamp}
    with registry.locked():
        known = duplicate(source, registry, run, round)
        if known is not None:
            return known
        floor = max(r.next_version(header.id.name) for r in _stack(registry))
        return _made(registry, registry.add(source, record, floor=floor), report)


def _made(registry: Registry, env_id: EnvId, report: Report) -> Admission:
    entry = registry.entry(env_id)
    register(entry)
    return Admission(report, str(env_id), entry.path)


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
        found = f"its code equals {env_id}, which stands in {holder.root}"
        remedy = "Change the code; another id, title or summary makes no new environment."
        finding = Finding("novelty.duplicate", found, remedy)
        result = GateResult("novelty", False, {"equals": str(env_id)}, (finding,))
        return Admission(Report(str(env_id), code, (result,), 0.0))
    return None
