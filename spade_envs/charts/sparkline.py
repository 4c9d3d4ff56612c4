"""A line as small as a word, drawn without matplotlib: a table may hold hundreds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from html import escape

from spade_envs.charts.palette import look
from spade_envs.contract.printable import printable

_MOST = 60
_WIDTH, _HEIGHT, _EDGE = 96.0, 20.0, 2.0


def sparkline(
    values: Sequence[float | None], label: str, *, low: float | None = None, high: float | None = None
) -> str:
    """Return a line with a dot at its end as SVG text; nothing where no value is known.

    Args:
        values: in their order; None and what is not finite are passed over. Of many the last sixty are drawn.
        label: what a screen reader says, such as "success: 0.25, 0.5, 0.75".
        low, high: the ends of the scale; the least and the greatest value where missing or not finite.
    """
    known = [value for value in values if value is not None and math.isfinite(value)][-_MOST:]
    if not known:
        return ""
    least = low if low is not None and math.isfinite(low) else min(known)
    most = high if high is not None and math.isfinite(high) else max(known)
    xs, ys = _across(len(known)), _up(known, least, most)
    line = " ".join([x + y for x, y in zip(xs, ys, strict=True)])
    colour = look(0).colour
    return (
        f'<svg class="sparkline" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" '
        f'width="{_WIDTH:g}" height="{_HEIGHT:g}" role="img" aria-label="{escape(printable(label))}">'
        f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
        f'<circle cx="{xs[-1][:-1]}" cy="{ys[-1]}" r="2" fill="{colour}"/></svg>'
    )


@lru_cache(maxsize=_MOST)
def _across(of: int) -> tuple[str, ...]:
    """Return where each of some values stands, from the left, each with its comma."""
    shares = [at / (of - 1) for at in range(of)] if of > 1 else [1.0]
    return tuple(f"{round(_EDGE + share * (_WIDTH - 2 * _EDGE), 1):g}," for share in shares)


def _up(values: list[float], least: float, most: float) -> list[str]:
    """Return where each of some values stands, from the top."""
    if not 0 < most - least < math.inf:
        return [_FROM_TOP[_STEPS // 2]] * len(values)
    scale = _STEPS / (most - least)
    inside = [least if value < least else most if value > most else value for value in values]
    return [_FROM_TOP[round((value - least) * scale)] for value in inside]


_STEPS = 160
_FROM_TOP = [f"{_HEIGHT - _EDGE - step / _STEPS * (_HEIGHT - 2 * _EDGE):.4g}" for step in range(_STEPS + 1)]
"""Where a line may pass, in tenths, from its bottom to its top: to write a number takes longer than to look it up."""
