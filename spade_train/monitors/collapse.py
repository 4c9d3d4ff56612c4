"""The designer has one idea left: variety is gone, and what admission calls new is new in its details alone.

R-Zero (arXiv 2508.05004) found its challenger repeating itself. The monitor speaks where one idea surely makes up
more than half of the designs of some rounds up to the last; of this round's designs, those of that idea earn nothing,
so that any other one is worth more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from spade_train.monitors.alarm import Alarm, Limits
from spade_train.monitors.history import History
from spade_train.monitors.seen import RoundSeen
from spade_train.rewards.uncertainty import wilson


class Reign(NamedTuple):
    """How much of the last designs one idea has.

    Attributes:
        low: its share, sure from below.
        own: how many of ``designs`` have it.
        effective: the effective number of ideas (inverse Simpson).
    """

    low: float
    idea: str
    own: int
    designs: int
    effective: float


def collapse(seen: RoundSeen, history: History, limits: Limits) -> Iterator[Alarm]:
    """Look whether the designer repeats itself; ``history`` includes the round. Silent where nothing is designed."""
    if not seen.designs:
        return
    most = max(reign(history.ideas[at:], limits.sure) for at in range(len(history.ideas)))
    if most.low <= limits.one_idea:
        return
    what = f"{most.own} of the last {most.designs} designs have one idea (effectively {most.effective:.1f} ideas)"
    for one in seen.designs:
        if one.idea == most.idea and one.env_id:
            yield Alarm("collapse", one.env_id, seen.number, most.low, limits.one_idea, what, "capped")
    yield Alarm("collapse", None, seen.number, most.low, limits.one_idea, what, "reported")


def reign(rounds: Sequence[Sequence[str]], sure: float) -> Reign:
    """Return which idea has most of these rounds' designs; ``sure`` is the normal quantile of its lower end."""
    ideas = Counter(key for each in rounds for key in each)
    idea, count = max(ideas.items(), key=lambda item: (item[1], item[0]))
    total = ideas.total()
    effective = total**2 / sum(n * n for n in ideas.values())
    return Reign(wilson(count, total, sure)[0], idea, count, total, effective)
