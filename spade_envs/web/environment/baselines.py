"""How policies that know nothing, and the one that knows all, do in an environment: out of its admission report."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from spade_envs.admission.rates import wilson
from spade_envs.admission.report import gates_of

_PLACE = re.compile(r"(?P<what>.*?)(?:, level (?P<level>\d{1,4}))?", re.DOTALL)
_RATE = re.compile(r"(?P<won>\d{1,9})/(?P<of>\d{1,9})(?: \[.*\])?")
_POLICIES = {"expert": "expert", "random play": "random play", "uniform": "random play"}
_HELD = "held "
_CONSTANT = "one action repeated"
ORDER = ("random play", _CONSTANT, "another's actions", "hint's text", "hints, step by step", "expert")


@dataclass(frozen=True, slots=True)
class Baseline:
    """One policy at one level.

    Attributes:
        level: None where the environment has none.
        won, episodes: of how many episodes it won how many.
        low, high: the 95 % interval of the rate.
    """

    policy: str
    level: int | None
    won: int
    episodes: int
    low: float
    high: float

    @property
    def rate(self) -> float:
        """The share of episodes won."""
        return self.won / self.episodes if self.episodes else 0.0


def baselines(report: Mapping[str, Any]) -> tuple[Baseline, ...]:
    """Return what a report says of policies, level by level; the best of the actions that were repeated."""
    best: dict[tuple[int | None, str], Baseline] = {}
    for what, level, won, episodes in _rates(report):
        policy = _CONSTANT if what.startswith(_HELD) else _POLICIES.get(what, what)
        if policy in ORDER:
            one = Baseline(policy, level, won, episodes, *wilson(won, episodes))
            known = best.get((level, policy))
            if known is None or _better(one, known):
                best[level, policy] = one
    return tuple(sorted(best.values(), key=lambda one: (one.level or 0, ORDER.index(one.policy))))


def _better(one: Baseline, known: Baseline) -> bool:
    """Of the same policy the most episodes count; of the actions that were repeated the one that won most."""
    if one.policy == _CONSTANT:
        return (one.rate, one.episodes) > (known.rate, known.episodes)
    return one.episodes > known.episodes


def _rates(report: Mapping[str, Any]) -> Iterator[tuple[str, int | None, int, int]]:
    for gate in gates_of(report):
        saw = gate.get("saw")
        for name, value in saw.items() if isinstance(saw, dict) else ():
            rate = _RATE.fullmatch(value) if isinstance(value, str) else None
            place = _PLACE.fullmatch(name) if rate else None
            if place and rate and int(rate["won"]) <= int(rate["of"]):
                level = None if place["level"] is None else int(place["level"])
                yield place["what"], level, int(rate["won"]), int(rate["of"])
