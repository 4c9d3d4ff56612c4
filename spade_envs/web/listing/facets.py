"""Facets as people read them: in an order, in words, the many of some cut off."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spade_envs.records.counting import Counted
from spade_envs.records.values import STATUSES, Range
from spade_envs.web.listing.asked import Asked, written

BANDS: dict[str, tuple[Range, ...]] = {
    "difficulty": ((0.0, 0.2), (0.2, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 1.0)),
    "regret": ((-math.inf, 0.0), (0.0, 0.1), (0.1, 0.25), (0.25, 0.5), (0.5, math.inf)),
    "success": ((0.0, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 1.0)),
    "steps": ((1, 10), (11, 20), (21, 50), (51, 100), (101, math.inf)),
}
"""Both ends are included: what lies on an edge is counted on both sides, as a click then finds it."""
NAMES = {
    "domain": "Domain",
    "skill": "Skill",
    "status": "Status",
    "difficulty": "Difficulty",
    "regret": "Regret",
    "success": "Success",
    "steps": "Turns at most",
    "tools": "Tools",
    "origin": "Origin",
    "run": "Run",
    "round": "Round",
}
MOST = 12
"""How many values of a facet are shown at first."""
ALL = 300
"""How many are shown of the one that is asked for: a page weighs at most 250 kB."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One value of a facet.

    Attributes:
        value: as addresses have it.
        versions: how many environments it would leave.
        chosen: whether it is asked for.
        address: of the index with this value or, where it is chosen, without it.
    """

    value: str
    text: str
    versions: int
    chosen: bool
    address: str


@dataclass(frozen=True, slots=True)
class Facet:
    """What the index can be narrowed by.

    Attributes:
        chosen: the value that is asked for, empty where none is.
        cleared: the address without it; None where none is.
        hidden: how many more values there are.
        more: the address of the index with these; None where there are none, or they are too many.
        fewer: the address without them; None where they are not shown.
    """

    name: str
    title: str
    chosen: str
    cleared: str | None
    choices: tuple[Choice, ...]
    hidden: int
    more: str | None
    fewer: str | None


def facets_of(asked: Asked, counted: Mapping[str, tuple[Counted, ...]]) -> tuple[Facet, ...]:
    """Return the facets in the order in which they are shown, without those that tell nothing apart."""
    made = (_facet(asked, name, counted.get(name, ())) for name in NAMES)
    return tuple(facet for facet in made if facet.choices or facet.chosen)


def _facet(asked: Asked, name: str, counted: tuple[Counted, ...]) -> Facet:
    chosen, whole = str(getattr(asked, name)), asked.more == name
    told = [(written(one.value), one) for one in _in_order(name, counted)]
    known = [(value, one) for value, one in told if one.versions or value == chosen]
    most = ALL if whole else MOST
    shown = known[:most] + [(value, one) for value, one in known[most:] if value == chosen]
    hidden = len(known) - len(shown)
    return Facet(
        name=name,
        title=NAMES[name],
        chosen=chosen,
        cleared=asked.address(**{name: ""}) if chosen else None,
        choices=tuple(_choice(asked, name, value, one, value == chosen) for value, one in shown),
        hidden=hidden,
        more=asked.address(more=name) if hidden and not whole else None,
        fewer=asked.address(more="") if whole else None,
    )


def _choice(asked: Asked, name: str, value: str, one: Counted, chosen: bool) -> Choice:
    address = asked.address(**{name: "" if chosen else value})
    return Choice(value, _text(name, one.value), one.versions, chosen, address)


def _in_order(name: str, counted: tuple[Counted, ...]) -> list[Counted]:
    if name in ("skill", "run"):
        return sorted(counted, key=lambda one: (-one.versions, one.value))
    if name == "status":
        return sorted(counted, key=lambda one: STATUSES.index(one.value))
    if name == "round":
        return sorted(counted, key=lambda one: -one.value)
    return list(counted) if name in BANDS or name == "tools" else sorted(counted, key=lambda one: one.value)


def _text(name: str, value: Any) -> str:
    if name == "tools":
        return "with tools" if value else "without tools"
    if name in BANDS:
        low, high = value
        if math.isinf(high):
            return f"{low:g} and more"
        return f"up to {high:g}" if math.isinf(low) else f"{low:g} to {high:g}"
    return str(value).replace("_", " ")
