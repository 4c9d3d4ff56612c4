"""The first page of an environment: what it is, how to make it, where it stands, who made it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from spade_envs.admission.report import gates_of
from spade_envs.contract.given import given
from spade_envs.records import StatusChange
from spade_envs.registry.stack import registries
from spade_envs.web.environment.admission import Gate, gates, text
from spade_envs.web.environment.baselines import Baseline, baselines
from spade_envs.web.environment.subject import Head, Subject


@dataclass(frozen=True, slots=True)
class Overview:
    """The page.

    Attributes:
        rules: what an agent is told.
        hint: an example of its hints.
        python: lines that make it.
        facts: its header, its file.
        spaces: what is observed, and what is done.
        gates: the gates of its admission.
        scores: difficulty, diversity, stability and their sum when it was admitted.
        success, hinted_success, regret, regret_low, regret_high, plays: the newest measurement.
        successes, regrets: of the last measurements, the oldest first.
        made_by: designer, prompt, document, sampling.
        changes: of its status, the newest first.
    """

    head: Head
    rules: str
    hint: str
    python: str
    facts: tuple[tuple[str, str], ...]
    spaces: tuple[tuple[str, str], ...]
    levels: int | None
    baselines: tuple[Baseline, ...]
    gates: tuple[Gate, ...]
    scores: tuple[tuple[str, str], ...]
    plays: int | None
    success: float | None
    hinted_success: float | None
    regret: float | None
    regret_low: float | None
    regret_high: float | None
    successes: tuple[float | None, ...]
    regrets: tuple[float | None, ...]
    made_by: tuple[tuple[str, str], ...]
    parent: str | None
    versions: tuple[int, ...]
    changes: tuple[StatusChange, ...]


MEASURES = ("plays", "success", "hinted_success", "regret", "regret_low", "regret_high")


def overview(one: Subject) -> Overview:
    """Return the page."""
    entry, listed, report = one.entry, one.listed, one.entry.report
    saw = _saw(report, "form")
    measured = {name: getattr(listed, name) if listed else None for name in MEASURES}
    return Overview(
        head=one.head,
        rules=text(saw.get("rules") or ""),
        hint=text(_saw(report, "hint").get("example") or ""),
        python=python(one),
        facts=tuple(_facts(one)),
        spaces=tuple(
            (name, text(saw[name])) for name in ("observation space", "action space", "tools") if name in saw
        ),
        levels=entry.header.difficulty_levels,
        baselines=baselines(report),
        gates=tuple(gates(report)),
        scores=tuple((text(k), text(v)) for k, v in (given(report, "scores", dict) or {}).items()),
        **measured,
        successes=tuple(success for success, _ in one.lately),
        regrets=tuple(regret for _, regret in one.lately),
        made_by=tuple(_flat(listed.provenance if listed else given(report, "provenance", dict) or {})),
        parent=str(entry.header.parent) if entry.header.parent else None,
        versions=one.versions,
        changes=one.changes[::-1],
    )


def python(one: Subject) -> str:
    """Return the lines of Python that make an environment."""
    lines = ["import gymnasium, spade_envs", f'env = gymnasium.make("{one.id}")']
    if one.holder.root not in {known.root for known in registries()}:
        lines.insert(1, f"spade_envs.add_registry({str(one.holder.root)!r})")
    return "\n".join(lines)


def _facts(one: Subject) -> Iterator[tuple[str, str]]:
    header, listed = one.entry.header, one.listed
    yield "domain", header.domain
    yield "skills", ", ".join(header.skills)
    made = header.generation_round
    yield "origin", header.origin if made is None else f"{header.origin} in round {made}"
    yield "turns at most", str(header.max_episode_steps)
    yield "difficulty levels", str(header.difficulty_levels or "one")
    yield "licence", header.license
    if listed and listed.run is not None:
        yield "admitted by", f"{listed.run}, round {listed.round}"
    if listed and listed.admitted_at:
        yield "admitted at", listed.admitted_at
    yield "file", str(one.entry.path)
    yield "SHA-256", one.entry.file_sha256


def _saw(report: Mapping[str, Any], name: str) -> dict[str, Any]:
    gate = next((gate for gate in gates_of(report) if gate.get("name") == name), {})
    return given(gate, "saw", dict) or {}


def _flat(data: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    """Yield what is known of a making, a name in another one after it."""
    for name, value in data.items():
        whole = f"{above}{name}".replace("_", " ")
        if isinstance(value, dict):
            yield from _flat(value, f"{whole}, ")
        elif value is not None:
            yield whole, text(value)
