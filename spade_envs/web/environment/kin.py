"""A family as a graph: ancestors on the left, descendants on the right, the nearest ones first. Pure functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from spade_envs.charts import Box, graph
from spade_envs.registry.lineage import Lineage, Member
from spade_envs.web.words import name_of, plural

MOST = 40
"""How many environments are drawn."""
ABOVE, BESIDE = 2, 10
"""How many generations above, so that the environment at hand is in sight, and how many of each generation."""


@dataclass(frozen=True, slots=True)
class Kin:
    """Who of a family is drawn.

    Attributes:
        columns: id -> generation: 0 of the environment at hand, less of what it stems from, more of what stems from it.
        members: by id.
        edges: (parent, child), both drawn.
        notes: id -> how many of its family are not drawn, in words.
    """

    columns: dict[str, int]
    members: dict[str, Member]
    edges: frozenset[tuple[str, str]]
    notes: dict[str, str]


class _Near(NamedTuple):
    """Somebody who may be drawn: how far away, in which column, and beside whom, who has to be drawn, too."""

    distance: int
    member: Member
    column: int
    beside: str


def kin(family: Lineage) -> Kin:
    """Return who is drawn: the nearest :data:`MOST`, each with an edge to a nearer one."""
    own = family.member
    near = [*_above(family), *_below(family)]
    columns = {one.member.id: one.column for one in reversed(near)} | {own.id: 0}
    near += _joined(family, columns)
    drawn, taken = {own.id: (own, 0)}, Counter[int]()
    for one in sorted(near, key=lambda one: one.distance):
        new = one.member.id not in drawn and one.beside in drawn
        if new and len(drawn) < MOST and taken[one.column] < BESIDE:
            drawn[one.member.id] = one.member, one.column
            taken[one.column] += 1
    return Kin(
        {one: column for one, (_, column) in drawn.items()},
        {one: member for one, (member, _) in drawn.items()},
        frozenset(pair for pair in _pairs(family) if drawn.keys() >= set(pair)),
        dict(_notes(family, drawn.keys())),
    )


def picture(family: Lineage) -> str:
    """Return the graph as SVG text."""
    found = kin(family)
    boxes = [
        _box(member, found.columns[one], one == family.member.id, found.notes.get(one))
        for one, member in found.members.items()
    ]
    desc = (
        f"{plural(sum(column < 0 for column in found.columns.values()), 'ancestor')} on the left, "
        f"{plural(sum(column > 0 for column in found.columns.values()), 'descendant')} on the right. "
        "The list below says the same."
    )
    return graph(f"The family of {family.member.id}", desc, boxes, found.edges)


def _above(family: Lineage) -> Iterator[_Near]:
    beside = family.member.id
    for distance, member in enumerate(family.ancestors[: -ABOVE - 1 : -1], 1):
        yield _Near(distance, member, -distance, beside)
        beside = member.id


def _below(family: Lineage) -> Iterator[_Near]:
    level, depth = [family.member], 0
    while level:
        depth += 1
        yield from (_Near(depth, child, depth, one.id) for one in level for child in one.children)
        level = [child for one in level for child in one.children]


def _joined(family: Lineage, columns: Mapping[str, int]) -> Iterator[_Near]:
    """Yield the further parents of whom may be drawn, each before its child."""
    for child, parent in family.joins:
        if (column := columns.get(child, -ABOVE)) > -ABOVE:
            yield _Near(abs(column) + 1, parent, column - 1, child)


def _pairs(family: Lineage) -> Iterator[tuple[str, str]]:
    """Yield every (parent, child) of a family."""
    yield from pairwise([*(one.id for one in family.ancestors), family.member.id])
    yield from ((member.id, child.id) for member in _tree(family) for child in member.children)
    yield from ((parent.id, child) for child, parent in family.joins)


def _tree(family: Lineage) -> Iterator[Member]:
    """Yield the environment and all that was made from it."""
    waiting = [family.member]
    while waiting:
        member = waiting.pop()
        yield member
        waiting += member.children


def _notes(family: Lineage, drawn: Collection[str]) -> Iterator[tuple[str, str]]:
    for member in _tree(family):
        if hidden := sum(child.id not in drawn for child in member.children):
            yield member.id, f"{hidden:,} more below"
        elif member.more:
            yield member.id, "more below"
    unseen = [one.id not in drawn for one in family.ancestors]
    if any(unseen) and not all(unseen):
        yield family.ancestors[unseen.index(False)].id, f"{sum(unseen):,} more above"


def _box(member: Member, column: int, here: bool, note: str | None) -> Box:
    status = (member.status or "not known").replace("_", " ") if member.held else "no registry holds it"
    last = (status, *([note] if note else []))
    lines = (
        (member.title, name_of(member.id), ", ".join(last)) if member.title else (name_of(member.id), *last)
    )
    href = None if here or not member.held else f"/environments/{name_of(member.id)}/lineage"
    return Box(member.id, column, lines, href, "here" if here else "any" if member.held else "lost")
