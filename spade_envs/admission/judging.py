"""From a source to a verdict: what is played, who judges it, and in which order."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from spade_envs.admission import (
    content,
    gates,
    hint_gate,
    level_gate,
    probes,
    review,
    scores,
    short_cut_gate,
    short_cut_probes,
)
from spade_envs.admission.behaviour import streams
from spade_envs.admission.bench import Bench
from spade_envs.admission.evidence import Evidence, Surroundings
from spade_envs.admission.extensions import extensions
from spade_envs.admission.lab import Enough, Lab
from spade_envs.admission.novelty import novelty
from spade_envs.admission.report import Report, refused
from spade_envs.admission.settings import Settings
from spade_envs.admission.sheet import GateResult, Sheet
from spade_envs.contract.findings import Rejection
from spade_envs.contract.header import code_sha256, parse_header
from spade_envs.errors import WorkerFault

Probe = Callable[[Lab], None]
Gate = Callable[[Evidence, Settings, Sheet], None]
Stage = tuple[str, Probe | None, Gate]

# What is played and who judges it, the cheap ones first. A gate reads all evidence so far, not only its own.
STAGES: tuple[Stage, ...] = (
    ("form", probes.form, gates.form),
    ("runs", probes.runs, gates.runs),
    ("determinism", probes.determinism, gates.determinism),
    ("solvable", probes.solvable, gates.solvable),
    ("hint", None, hint_gate.hint),
    ("short cuts", short_cut_probes.short_cuts, short_cut_gate.short_cut),
    ("reward", None, gates.reward),
    ("difficulty", probes.order, level_gate.difficulty),
    ("novelty", streams, novelty),
    ("content", content.read, content.content),
)
REVIEW: Stage = ("review", review.consult, review.review)


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
    with Lab(source, header, settings, around) as lab:
        results = tuple(_stages(lab, stages, all_gates))
    report = Report(str(header.id), code_sha256(source), results, time.monotonic() - start)
    return _scored(report, lab) if report.admitted else report


def _all_refusals(source: str, header: Rejection) -> Rejection:
    """Return what is wrong with a source's header, and with its code."""
    bench = Bench()
    try:
        found = bench.load(source)
    except WorkerFault:
        return header
    finally:
        bench.close()
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
    worth = scores.scores(lab.evidence, scores.nearest(report.gates), settings)
    pool = scores.entry(worth.total, scores.random_probe(lab.evidence), settings.frontier)
    return replace(report, scores=worth, pool=pool)
