"""From where on the checks speak: where a 95 % interval lies beyond a line. Three episodes find nothing."""

from __future__ import annotations

LATELY = 64
"""Designs or blocks that *lately* is made of: the newest rounds that hold so many."""

LEAST = 12
"""Fewer designs or environments than these say nothing."""

RUNS = 0.8
"""The least share of designs that compile and run."""

ADMITTED = 0.5
"""The least share of designs that run which the gates let through."""

EASY, HARD, PLAYS = 0.9, 0.1, 4
"""From which success on, over how many plays, an environment teaches next to nothing: its groups are all equal."""

SEEN = 24
"""Environments, each in one round, that *lately* is made of where it is about difficulty, which changes quickly."""

EXTREME, ONE_SIDED = 0.5, 0.75
"""The most of them that may lie at the extremes; the share of those from which on one extreme is named alone."""

PAID, HINTED = 0.05, 96
"""A gain of success by the hint that must not be ruled out, where none is sure: it is what the designer is paid by; and
over how many environments, each in one round."""

FLAT = 0.1
"""A rise of success in what was played again that must not be ruled out, where none is sure."""

UNREAD = 0.3
"""The share of plays with an unreadable turn from which on losses may be those of the format."""

ROUNDS = 6
"""Fewer rounds have no early and late ones."""

SIGNAL = 0.2
"""The least share of the agent's blocks whose rewards differ."""

STALE = 0.5
"""The least share of the choices that newer environments get, of what a uniform draw would give them."""

CHANCE = 0.01
"""What the forgetting suite finds by chance, of each environment; and how unlikely a finding must be by chance."""

FAULTS, CUT = 0.05, 0.25
"""The most plays that faults may end, and that may end for want of tokens."""
