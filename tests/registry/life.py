"""A registry in which things happened, for tests: versions, refused designs, measures, choices, changes of status."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from test_store import source

from spade_envs.records import Choice, Measured
from spade_envs.registry import Registry, keep_refused, keep_round
from spade_envs.registry.status import change

ROUNDS = 3
GATES = [{"name": "runs", "passed": False, "findings": [{"found": "it is bad", "rule": "made.up"}]}]
REPORT = {
    "active_pool": {"enters": True, "reasons": []},
    "admitted_at": "2026-01-01T00:00:00+00:00",
    "gates": [{"name": "form", "passed": True, "saw": {"rules": "Turn the widget."}}],
    "scores": {"difficulty": 0.5, "diversity": 0.75, "stability": 1.0, "total": 0.7},
}


def admitted(registry: Registry, name: str = "Widget", answer: int = 0, **report: Any) -> str:
    """Add a version and return its id."""
    return str(registry.add(source(name, answer), {**REPORT, **report}))


def lived(root: Path, *others: str) -> Registry:
    """Return a registry of three versions that was played for some rounds, as were versions of other registries."""
    registry = Registry(root)
    ids = [admitted(registry, answer=k, run="run", round=k) for k in range(2)]
    ids += [admitted(registry, "Gadget", run="run", round=0), *others]
    for round_ in range(ROUNDS):
        keep_round(
            registry,
            "play",
            round_,
            measured=[Measured(one, "play", round_, 8, 8, success=0.5, regret=0.25 * round_) for one in ids],
            choices=[Choice(one, "play", round_, "it was its turn") for one in ids],
        )
    change(ids[:1], "retired", "it is like the next one", registry)
    keep_refused(
        registry, source("Refused"), {"code_sha256": "f" * 64, "gates": GATES, "id": "spade/Refused-v0"}
    )
    return registry
