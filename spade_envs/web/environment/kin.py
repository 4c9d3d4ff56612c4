"""A family as a graph: ancestors on the left, descendants on the right, the nearest ones first. Pure functions."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import pairwise

from spade_envs.charts import Box, graph
from spade_envs.registry.lineage import Lineage, Member
from spade_envs.web.words import name_of, plural

MOST = 40
"""How many environments are drawn."""
ABOVE, BESIDE = 4, 12
"""How many generations above, and how many children of one."""


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


def kin(family: Lineage) -> Kin:
    """Return who is drawn: the nearest :data:`MOST`."""
    near = [(0, family.member, 0), *_above(family), *_below(family)]
    columns = {member.id: column for _, member, column in reversed(near)}
    near += [
        (abs(columns[child]) + 1, parent, columns[child] - 1)
        for child, parent in family.joins
        if child in columns
    ]
    near.sort(key=lambda one: one[0])
    drawn: dict[str, tuple[Member, int]] = {}
    for _, member, column in near:
        if len(drawn) < MOST:
            drawn.setdefault(member.id, (member, column))
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


def _above(family: Lineage) -> Iterator[tuple[int, Member, int]]:
    for distance, member in enumerate(family.ancestors[: -ABOVE - 1 : -1], 1):
        yield distance, member, -distance


def _below(family: Lineage) -> Iterator[tuple[int, Member, int]]:
    level, depth = [family.member], 0
    while level:
        level, depth = [child for one in level for child in one.children[:BESIDE]], depth + 1
        yield from ((depth, child, depth) for child in level)


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
    lines = (member.title, name_of(member.id), ", ".join(last)) if member.title else (name_of(member.id), *last)
    href = None if here or not member.held else f"/environments/{name_of(member.id)}/lineage"
    return Box(member.id, column, lines, href, "here" if here else "any" if member.held else "lost")
