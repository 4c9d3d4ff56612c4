"""Colours, dashes, markers and hatches: series can be told apart without colour, on a dark page as on a light one."""

from __future__ import annotations

from typing import NamedTuple

INK = "#010203"
"""Drawn in the place of the colour of the text around the picture (``currentColor``), which matplotlib cannot name."""


class Look(NamedTuple):
    """How a series looks. ``hatch`` is for areas, ``dash`` and ``marker`` for lines."""

    colour: str
    dash: str | tuple[float, tuple[float, ...]]
    marker: str
    hatch: str


PALETTE = (
    Look("#0072b2", "-", "o", ""),
    Look("#d55e00", "--", "s", "///"),
    Look("#008f68", "-.", "^", "\\\\\\"),
    Look("#b4629a", ":", "D", "xx"),
    Look("#a06a00", (0.0, (6.0, 1.5)), "v", "|||"),
    Look("#7a7a7a", (0.0, (1.0, 2.5)), "P", "---"),
)
"""After Okabe and Ito (2008), darkened where needed: each has a contrast of at least 3 to 1 on white and on #111."""


def look(number: int) -> Look:
    """Return the look of the series with this number; the seventh looks as the first one does."""
    return PALETTE[number % len(PALETTE)]
