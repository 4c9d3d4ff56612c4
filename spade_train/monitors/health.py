"""Monitors of the run: nothing cheats, but nothing is learned any more. They report and change nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from statistics import fmean, stdev

from spade_train.monitors.alarm import Alarm, Limits
from spade_train.monitors.history import History
from spade_train.monitors.seen import RoundSeen
from spade_train.rewards.uncertainty import student, total

Finding = tuple[float, float, str]


def entropy(history: History, limits: Limits) -> Iterator[Finding]:
    """The agent always says the same: groups no longer differ."""
    last = history.entropies[-limits.entropy_rounds :]
    if len(last) == limits.entropy_rounds and max(last) < limits.entropy:
        yield max(last), limits.entropy, f"entropy below {limits.entropy} nats for {len(last)} rounds"


def flat(history: History, limits: Limits) -> Iterator[Finding]:
    """The agent's blocks have no variance: GRPO has nothing to learn from, whether all is solved or none."""
    whole = total(history.agent_blocks)
    plays = 0
    for one in reversed(history.agent_blocks):
        if one.wins < one.plays:
            break
        plays += one.plays
    if plays >= limits.flat_blocks:
        yield plays, limits.flat_blocks, f"the last {plays} of {whole.plays} agent blocks have no variance"


def negative(history: History, limits: Limits) -> Iterator[Finding]:
    """Hints mislead: the mean regret of the last rounds' environments is surely below nought.

    SPADE reports it of models below 8 billion parameters.
    """
    means = [mean for each in history.regrets for mean in each]
    if len(means) >= limits.negative_designs:
        error = stdev(means) / math.sqrt(len(means))
        high = fmean(means) + student(len(means) - 1, limits.sure) * error
        if high < 0:
            yield high, 0.0, f"mean regret {fmean(means):.2f} of {len(means)} plays of environments"


HEALTH: dict[str, Callable[[History, Limits], Iterator[Finding]]] = {
    "entropy": entropy,
    "flat": flat,
    "negative": negative,
}
"""Monitor -> its function."""


def health(seen: RoundSeen, history: History, limits: Limits) -> Iterator[Alarm]:
    """Ask every monitor about the run; ``history`` includes the round."""
    for name, monitor in HEALTH.items():
        for value, limit, what in monitor(history, limits):
            yield Alarm(name, None, seen.number, value, limit, what, "reported")
