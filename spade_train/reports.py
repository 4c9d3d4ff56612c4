"""What admission has seen of an environment that is played now."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from typing import Any

from spade_envs import EnvId, registries
from spade_envs.errors import SpadeError
from spade_train.memory import Facts
from spade_train.rewards.uncertainty import Tally

_RATE = re.compile(r"(\d+)/(\d+) ")


def report_of(env_id: str) -> dict[str, Any] | None:
    """Return an environment's report from whichever registry holds it."""
    name = EnvId.parse(env_id)
    assert isinstance(name, EnvId)  # it has been played
    for registry in reversed(registries()):
        with contextlib.suppress(SpadeError):
            return dict(registry.report(name))
    return None


def facts_of(env_id: str) -> Facts | None:
    """Return what is known of an environment since its admission; None where no registry holds it any more."""
    name = EnvId.parse(env_id)
    assert isinstance(name, EnvId)  # it may be played
    for registry in reversed(registries()):
        with contextlib.suppress(SpadeError):
            entry = registry.entry(name)
            score = (entry.report.get("scores") or {}).get("difficulty")
            return Facts(entry.header.domain, entry.header.skills, score, entry.header.difficulty_levels or 1)
    return None


def random_play(report: Mapping[str, Any] | None) -> Tally | None:
    """Return what uniformly random play won at the easiest level, which the agent plays; None where unknown."""
    gates = {gate["name"]: gate for gate in (report or {}).get("gates", ())}
    saw = gates.get("difficulty", {}).get("saw", {})
    for name, rate in saw.items():  # the levels stand in order
        found = _RATE.match(str(rate)) if name.startswith("random play") else None
        if found:
            return Tally(int(found[1]), int(found[2]))
    return None
