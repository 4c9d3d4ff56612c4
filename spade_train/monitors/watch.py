"""One round under watch: state in, alarms and state out."""

from __future__ import annotations

from spade_train.monitors.alarm import Alarm, Limits
from spade_train.monitors.cheats import cheats
from spade_train.monitors.collapse import collapse
from spade_train.monitors.health import health
from spade_train.monitors.history import History
from spade_train.monitors.seen import RoundSeen

_USUAL = Limits()


def watch(history: History, seen: RoundSeen, limits: Limits = _USUAL) -> tuple[History, tuple[Alarm, ...]]:
    """Return the history with this round, and what the monitors say of it.

    An alarm is raised anew in every round in which its cause is still seen; its consequence lasts as long.
    """
    history = history.after(seen)
    asked = (cheats, collapse, health)
    return history, tuple(alarm for monitors in asked for alarm in monitors(seen, history, limits))
