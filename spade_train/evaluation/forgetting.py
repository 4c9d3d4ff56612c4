"""What a run has taught and what was lost since: every environment of its history, then and now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from spade_envs import EnvId, add_registry, make_text, registries
from spade_train.evaluation.figures import Tries, counted
from spade_train.evaluation.suite import Item, Options, Skipped, Suite
from spade_train.playing.prompts import HELD_OUT_SEED
from spade_train.rewards.uncertainty import Tally, p_fewer, total
from spade_train.runs.folder import RunFolder
from spade_train.runs.views import records, settings

NAME = "history"

LATELY = 3
"""Rounds that *then* is made of: the last ones in which the environment was played. The best ones would be those of
luck, and everything would seem forgotten."""

CHANCE = 0.01
"""p from which on a fall is none by chance (Fisher's exact test, one-sided)."""

Key = tuple[str, int]
"""An id and a level."""


@dataclass(frozen=True, slots=True)
class Then:
    """How an environment fared when it was last played: its unhinted plays, and the last round of those."""

    plays: Tally
    round: int


@dataclass(frozen=True, slots=True)
class Kept:
    """One environment then and now.

    Attributes:
        p: how likely so few wins now are, if nothing was lost.
    """

    env_id: str
    level: int
    round: int
    then: Tally
    now: Tally
    p: float

    @property
    def is_forgotten(self) -> bool:
        """Whether it is played surely worse than then."""
        return self.now.rate < self.then.rate and self.p < CHANCE

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {
            **asdict(self),
            "then": list(self.then),
            "now": list(self.now),
            "forgotten": self.is_forgotten,
        }


def history(options: Options) -> Suite | Skipped:
    """Return items of every environment that a run has played, at the levels it has played; all of them, so that
    ``items`` is how many seeds each gets at most, one at least.
    """
    if options.run is None:
        return Skipped(
            NAME, "there is no run to look back on: evaluate a run or a checkpoint of one, or say --run RUN"
        )
    add_registry(options.run / "registry")
    past = played(RunFolder(options.run))
    held = [key for key in past if _is_held(key[0])]
    if not held:
        return Skipped(NAME, f"{options.run} has played nothing yet that is still there")
    seeds = max(1, options.items // len(held))
    gone = len(past) - len(held)
    return Suite(
        NAME,
        tuple(Item(env_id, HELD_OUT_SEED + n, level) for env_id, level in held for n in range(seeds)),
        lambda env_id, **arguments: make_text(env_id, action_format=options.action_format, **arguments),
        examples=2,
        note=f"left out: {gone} that no registry holds any more" if gone else "",
    )


def played(run: RunFolder) -> dict[Key, Then]:
    """Return how every environment fared when it was last played, from a run's records; new seeds or old are alike."""
    rounds: dict[Key, dict[int, list[Tally]]] = {}
    for one in records(run, "plays"):
        if not one.get("hinted") and one.get("turns") and one.get("end") != "fault":
            key = str(one.get("env_id")), int(one.get("level", 1))
            rounds.setdefault(key, {}).setdefault(int(one["round"]), []).append(
                Tally(int(bool(one["success"])), 1)
            )
    return {key: _last(of_key) for key, of_key in sorted(rounds.items())}


def kept(past: Mapping[Key, Then], tries: Tries) -> list[Kept]:
    """Return what was kept and what was lost, the surest loss first."""
    now: dict[Key, list[Tally]] = {}
    for item, plays in counted(tries).items():
        won = sum(one.success for one in plays)
        now.setdefault((item.env_id, item.level), []).append(Tally(won, len(plays)))
    found = [_compared(key, past[key], total(tallies)) for key, tallies in now.items() if key in past]
    return sorted(found, key=lambda one: (one.p, one.env_id, one.level))


def _compared(key: Key, then: Then, now: Tally) -> Kept:
    return Kept(*key, then.round, then.plays, now, p_fewer(now, then.plays))


def _last(rounds: Mapping[int, Sequence[Tally]]) -> Then:
    numbers = sorted(rounds)[-LATELY:]
    return Then(total(one for number in numbers for one in rounds[number]), numbers[-1])


def _is_held(text: str) -> bool:
    env_id = EnvId.parse(text)
    return isinstance(env_id, EnvId) and any(one.holds(env_id) for one in registries())


def run_of(path: Path) -> Path | None:
    """Return the folder of the run that a path belongs to: itself, or what it lies in; None where there is none."""
    near = (path, *list(path.absolute().parents)[:2])
    return next((one for one in near if "selfplay" in settings(RunFolder(one))), None)
