"""A model and its base over several suites, from words to results."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from spade_envs.text_face import ActionFormat
from spade_train.evaluation.forgetting import NAME as HISTORY
from spade_train.evaluation.forgetting import kept, played
from spade_train.evaluation.loading import Sampling, load
from spade_train.evaluation.playing import Plan, evaluate
from spade_train.evaluation.results import Evaluation, SuiteResult
from spade_train.evaluation.subject import Subject
from spade_train.evaluation.suite import Item, Options, Skipped, Suite, Try
from spade_train.evaluation.suites import make_suites
from spade_train.playing.decoding import Policy
from spade_train.runs.folder import RunFolder

Progress = Callable[[str, int, int], object]
"""Is told whose plays go on in which suite, how many are done, and of how many."""


@dataclass(frozen=True)
class Order:
    """What is asked for.

    Attributes:
        base: a model to compare with; None for no comparison.
        items: of each suite, at most.
    """

    subject: Subject
    base: str | None
    suites: Sequence[str]
    sampling: Sampling
    plan: Plan
    items: int = 50
    action_format: ActionFormat = "xml"
    progress: Progress = field(default=lambda *_: None)

    @property
    def options(self) -> Options:
        """Return what suites are made with."""
        return Options(self.items, self.plan.seed, "", self.subject.run, self.action_format)


def carry_out(order: Order) -> Evaluation:
    """Evaluate a model, and its base on the same items with the same draws.

    Raises:
        UsageError: a suite or a model is not there.
    """
    made = make_suites(order.suites, order.options)
    suites = [one for one in made if isinstance(one, Suite)]
    skipped = tuple(one for one in made if isinstance(one, Skipped))
    seconds: dict[str, float] = {}
    mine = _all(order, order.subject.model, suites, seconds, "model")
    theirs = _all(order, order.base, suites, seconds, "base") if order.base else [None] * len(suites)
    results = [_result(order, *parts) for parts in zip(suites, mine, theirs, strict=True)]
    return Evaluation(order.subject.name, order.base, _said(order), tuple(results), skipped, seconds)


def _all(
    order: Order, model: str, suites: Sequence[Suite], seconds: dict[str, float], who: str
) -> list[dict[Item, list[Try]]]:
    """Play every suite with one model, which is let go of afterwards."""
    began = time.monotonic()
    policy = load(model, order.sampling) if suites else None
    found = [_one(order, policy, suite, who) for suite in suites if policy is not None]
    seconds[who] = round(time.monotonic() - began, 1)
    return found


def _one(order: Order, policy: Policy, suite: Suite, who: str) -> dict[Item, list[Try]]:
    done, of = 0, len(suite.items) * order.plan.plays

    def progress(more: int) -> None:
        nonlocal done
        done += more
        order.progress(f"{suite.name}, {who}", done, of)

    return evaluate(policy, suite, order.plan, progress)


def _result(
    order: Order, suite: Suite, tries: dict[Item, list[Try]], base: dict[Item, list[Try]] | None
) -> SuiteResult:
    result = SuiteResult(suite.name, tries, base, suite.note)
    if suite.name != HISTORY or order.subject.run is None:
        return result
    return replace(result, kept=tuple(kept(played(RunFolder(order.subject.run)), tries)))


def _said(order: Order) -> dict[str, Any]:
    plan, sampling = order.plan, order.sampling
    return {
        "suites": list(order.suites),
        "items": order.items,
        "plays": plan.plays,
        "seed": plan.seed,
        "temperature": sampling.temperature,
        "prompt_tokens": plan.limits.prompt,
        "turn_tokens": plan.limits.turn,
        "completion_tokens": plan.limits.completion,
        "action_format": order.action_format,
    }
