"""Evaluations between a run's rounds: the same items with the same draws, each held against the beginning."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from spade_train.config import SelfPlayConfig
from spade_train.evaluation.figures import figures, paired, rates
from spade_train.evaluation.forgetting import NAME as HISTORY
from spade_train.evaluation.forgetting import kept, played
from spade_train.evaluation.playing import Plan, evaluate
from spade_train.evaluation.suite import Item, Options, Skipped, Suite, Try
from spade_train.evaluation.suites import make_suites
from spade_train.playing.decoding import Policy
from spade_train.playing.play import Limits
from spade_train.rewards.uncertainty import Estimate, Tally
from spade_train.runs.folder import RunFolder
from spade_train.runs.views import records
from spade_train.world import World

FILE = "evaluations.jsonl"


@dataclass(frozen=True)
class BetweenRounds:
    """When a run is evaluated, on what.

    Attributes:
        seed: the run's.
        limits: tokens of the run's own episodes.
    """

    config: SelfPlayConfig
    seed: int
    limits: Limits
    run: RunFolder
    world: World

    def is_due(self, done: int, last: bool = False) -> bool:
        """Whether the run is evaluated after so many rounds: before the first one, every so many, after the last."""
        every = self.config.evaluate_rounds
        return bool(every) and (done % every == 0 or last)

    def evaluate(self, policy: Policy, done: int) -> list[dict[str, Any]]:
        """Play every suite, each process its share of the items; write and return the lines, one a suite.

        Raises:
            SpadeError: this machine could not finish it.
        """
        lines = [self._line(policy, suite, done) for suite in self._suites()]
        if self.world.first:
            self.run.append(FILE, lines)
        return lines

    def _suites(self) -> list[Suite | Skipped]:
        options = Options(self.config.evaluate_items, self.seed, "", self.run.path, self.config.action_format)
        return make_suites(self.config.evaluate_suites, options)

    def _line(self, policy: Policy, suite: Suite | Skipped, done: int) -> dict[str, Any]:
        if isinstance(suite, Skipped):
            return {"round": done, "suite": suite.name, "skipped": suite.why}
        began = time.monotonic()
        plan = Plan(self.config.evaluate_plays, self.limits, self.seed)
        own = suite.items[self.world.rank :: self.world.size]
        parts = self.world.gather(evaluate(policy, suite, plan, items=own))
        tries = joined(suite.items, parts)
        won = rates(tries)
        gain = paired(won, self._base(suite.name))
        lost = kept(played(self.run), tries) if suite.name == HISTORY else []
        return {
            "round": done,
            "suite": suite.name,
            "figures": figures(tries).as_dict(),
            "gain": asdict(gain) if gain else None,
            "forgotten": [one.as_dict() for one in lost if one.is_forgotten],
            "items": {name: list(tally) for name, tally in won.items()},
            "seconds": round(time.monotonic() - began, 1),
        }

    def _base(self, suite: str) -> dict[str, Tally]:
        """Return how the suite went before the first round."""
        lines = [one for one in records(self.run, "evaluations") if one.get("suite") == suite]
        first = next((one for one in lines if one.get("round") == 0), {})
        return {name: Tally(*tally) for name, tally in (first.get("items") or {}).items()}


def joined(items: Sequence[Item], parts: Sequence[Mapping[Item, list[Try]]]) -> dict[Item, list[Try]]:
    """Return the plays of all processes, in the suite's order."""
    whole = {item: tries for part in parts for item, tries in part.items()}
    return {item: whole[item] for item in items if item in whole}


def told(line: Mapping[str, Any]) -> str:
    """Return a line as a person reads it."""
    if "skipped" in line:
        return f"SKIPPED {line['suite']}: {line['skipped']}"
    known, gain = line["figures"], line["gain"]
    rate = Estimate(**known["avg_k"]).text() if known["avg_k"] else "nothing could be played"
    since = f", {Estimate(**gain).text(sign=True)} since the beginning" if gain and line["round"] else ""
    lost = f"; forgotten: {len(line['forgotten'])}" if line["forgotten"] else ""
    return f"{line['suite']}: {rate} of {known['items']} items{since}{lost}"
