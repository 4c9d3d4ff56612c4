"""A small registry in which things happened: shipped environments, published anew, played for some rounds."""

from __future__ import annotations

import json
from pathlib import Path

from spade_envs.records import Choice, Measured
from spade_envs.registry import Registry, keep_round, shipped_registry
from spade_envs.registry.status import change

NAMES = ("LampRow", "WordSorter", "MazeKey", "AfterSales", "PendulumLab")
RUN, ROUNDS = "tests/first", 4


def filled(root: Path) -> Registry:
    """Return a registry of some shipped environments with their reports; LampRow has two versions."""
    registry = Registry(root)
    ids = [publish(registry, name) for name in NAMES]
    ids.append(publish(registry, "LampRow", parent=ids[0], code="\n# the second\n", run=RUN, round=1))
    for number in range(ROUNDS):
        measured = [
            Measured(
                *(one, RUN, number, 8, 8),
                success=min(1.0, 0.2 * number + 0.1 * k),
                hinted_success=min(1.0, 0.5 + 0.1 * k),
                regret=0.4 - 0.1 * number,
                regret_low=0.3 - 0.1 * number,
                regret_high=0.5 - 0.1 * number,
                mean_return=0.5,
                mean_steps=6.5,
            )
            for k, one in enumerate(ids)
        ]
        choices = [Choice(one, RUN, number, "it was its turn") for one in ids]
        keep_round(registry, RUN, number, measured=measured, choices=choices)
    change(ids[:1], "retired", "the second one is better", registry)
    return registry


def publish(
    registry: Registry, name: str, parent: str | None = None, code: str = "", **report: object
) -> str:
    """Add a shipped environment to a registry, with its report, and return its id."""
    source = (shipped_registry() / name / "v0.py").read_text()
    if parent:
        source = source.replace("# contract = 1", f'# parent = "{parent}"\n# contract = 1')
    kept = json.loads((shipped_registry() / name / "v0.json").read_text())
    return str(registry.add(source + code, {**kept, **report}))
