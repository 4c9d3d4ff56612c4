"""Monitors: what a designer that cheats, or a run that goes astray, looks like in a round's records.

All of it is pure: records and a bounded history go in, alarms and the next history come out.
"""

from __future__ import annotations

from spade_train.monitors.alarm import Alarm, Consequence, Limits, is_quarantined, reward_ceiling
from spade_train.monitors.cheats import CHEATS
from spade_train.monitors.echo import echoes
from spade_train.monitors.health import HEALTH
from spade_train.monitors.history import History, Past
from spade_train.monitors.seen import DesignSeen, EnvironmentSeen, RoundSeen
from spade_train.monitors.watch import watch

__all__ = [
    "CHEATS",
    "HEALTH",
    "Alarm",
    "Consequence",
    "DesignSeen",
    "EnvironmentSeen",
    "History",
    "Limits",
    "Past",
    "RoundSeen",
    "echoes",
    "is_quarantined",
    "reward_ceiling",
    "watch",
]
