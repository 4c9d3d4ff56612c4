"""The designer has one idea left: variety is gone, and what admission calls new is new in its details alone.

R-Zero (arXiv 2508.05004) found its challenger repeating itself. The monitor speaks where one idea surely makes up
more than half of the last rounds' designs; of this round's designs, those of that idea earn nothing, so that any
other one is worth more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from spade_train.monitors.alarm import Alarm, Limits
from spade_train.monitors.history import History
from spade_train.monitors.seen import RoundSeen
from spade_train.rewards.uncertainty import wilson


def collapse(seen: RoundSeen, history: History, limits: Limits) -> Iterator[Alarm]:
    """Look whether the designer repeats itself; ``history`` includes the round. Silent where nothing is designed."""
    ideas = Counter(key for each in history.ideas for key in each)
    if not seen.designs or not ideas:
        return
    idea, count = max(ideas.items(), key=lambda item: (item[1], item[0]))
    low, _ = wilson(count, ideas.total(), limits.sure)
    if low <= limits.one_idea:
        return
    many = ideas.total() ** 2 / sum(n * n for n in ideas.values())
    what = f"{count} of the last {ideas.total()} designs have one idea (effectively {many:.1f} ideas)"
    for one in seen.designs:
        if one.idea == idea and one.env_id:
            yield Alarm("collapse", one.env_id, seen.number, low, limits.one_idea, what, "capped")
    yield Alarm("collapse", None, seen.number, low, limits.one_idea, what, "reported")
