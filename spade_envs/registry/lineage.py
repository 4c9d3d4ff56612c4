"""From which environment one was made, up to the first, and what was made from it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from sqlalchemy import Connection

from spade_envs.contract.ids import EnvId
from spade_envs.records import reading
from spade_envs.records.making import joined
from spade_envs.registry.overview import held_by, opened
from spade_envs.registry.stack import Stack
from spade_envs.registry.store import Registry

Several = Mapping[str, Collection[str]]
"""Of what was made from several: id -> parents, or parent -> ids."""
DEPTH = 100
"""How many generations below an environment are looked up, if nobody says."""


@dataclass(frozen=True, slots=True)
class Member:
    """One environment of a family.

    Attributes:
        title, status: None where no registry has it on record.
        held: whether a registry holds it.
        children: what was made from it, by name and version; empty for an ancestor.
        more: whether it has children that lie deeper than was asked for.
    """

    id: str
    title: str | None
    status: str | None
    held: bool
    children: tuple[Member, ...] = ()
    more: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return the member with all below it as JSON-ready data."""
        known = {"id": self.id, "title": self.title, "status": self.status, "held": self.held}
        return {**known, "more": self.more, "children": [child.as_dict() for child in self.children]}


@dataclass(frozen=True, slots=True)
class Lineage:
    """A family around one environment.

    Attributes:
        ancestors: from the first down to its parent, by the parents that headers name.
        member: the environment, with all that was made from it.
        circular: whether an ancestor is said to be made from one of its own descendants.
        joins: (id, parent) for whatever else one of these was made from: a joined design has two parents. What
            those stem from is told by their own lineage.
    """

    ancestors: tuple[Member, ...]
    member: Member
    circular: bool = False
    joins: tuple[tuple[str, Member], ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the family as JSON-ready data."""
        above = [{**one.as_dict(), "children": [], "more": True} for one in self.ancestors]
        joins = [
            {"id": one, "parent": {"id": other.id, "title": other.title, "status": other.status}}
            for one, other in self.joins
        ]
        return {**self.member.as_dict(), "ancestors": above, "circular": self.circular, "joins": joins}


def lineage(env_id: str, stack: Stack | None = None, depth: int = DEPTH) -> Lineage:
    """Return the ancestors and the descendants of a version, over all registries.

    Args:
        env_id: the version, as text.
        stack: the registries; those in force if none are given.
        depth: how many generations below it are told.

    Raises:
        RegistryError: records break while they are read.
    """
    with opened(stack) as shelves:
        made = {one: parents for _, part in shelves for one, parents in joined(part).items()}
        above, circle = _above(shelves, env_id)
        levels, deeper = _below(shelves, _turned(made), env_id, depth)
        tree = [(p, child) for level in levels for p, children in level.items() for child in children]
        known = {*pairwise([*above, env_id]), *tree}
        joins = _joins([*above, env_id, *(child for _, child in tree)], made, circle, known)
        ids = [*above, env_id, *(child for _, child in tree), *(parent for _, parent in joins)]
        told = {one: told for _, connection in shelves for one, told in reading.told(connection, ids).items()}
        held = held_by(shelves, ids)

    def member(one: str, children: tuple[Member, ...] = (), more: bool = False) -> Member:
        title, status = told.get(one, (None, None))
        return Member(one, title, status, one in held, children, more)

    built: dict[str, Member] = {}
    for level in reversed(levels):  # from the leaves up, so that no generation is too deep
        for parent, children in level.items():
            below = (
                built.get(child) or member(child, more=child in deeper) for child in children if child in held
            )
            built[parent] = member(parent, tuple(below))
    return Lineage(
        tuple(map(member, above)),
        built.get(env_id) or member(env_id, more=env_id in deeper),
        bool(circle),
        tuple((one, member(parent)) for one, parent in joins),
    )


def _joins(
    family: Iterable[str], made: Several, circle: Iterable[tuple[str, str]], known: set[tuple[str, str]]
) -> list[tuple[str, str]]:
    """Return (id, parent) for what of a family's making is not known yet."""
    pairs = [(one, parent) for one in family for parent in made.get(one, ())]
    new = (pair for pair in dict.fromkeys([*circle, *pairs]) if pair[::-1] not in known)
    return [(one, parent) for one, parent in new if isinstance(EnvId.parse(parent), EnvId)]


def _turned(made: Several) -> Several:
    """Return parent -> ids of id -> parents."""
    found: dict[str, list[str]] = {}
    for one, parents in made.items():
        for parent in parents:
            found.setdefault(parent, []).append(one)
    return found


def _above(
    shelves: list[tuple[Registry, Connection]], env_id: str
) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the ancestors, the first one first, and, where they go in a circle, which one closes it with which."""
    seen = [env_id]
    while True:
        parents = (reading.parent(connection, seen[-1]) for _, connection in reversed(shelves))
        parent = next((one for one in parents if one), None)
        if parent is None or parent in seen:
            return seen[:0:-1], [] if parent is None else [(seen[-1], parent)]
        seen.append(parent)


def _below(
    shelves: list[tuple[Registry, Connection]], born: Several, env_id: str, depth: int
) -> tuple[list[dict[str, list[str]]], set[str]]:
    """Return for each generation parent -> children, and which of the last one have children themselves."""
    levels: list[dict[str, list[str]]] = []
    seen, asked = {env_id}, [env_id]
    while asked and len(levels) < depth:
        found = _children(shelves, born, asked, seen)
        levels.append(found)
        asked = [child for children in found.values() for child in children]
        seen.update(asked)
    return levels, set(_children(shelves, born, asked, seen))


def _children(
    shelves: list[tuple[Registry, Connection]], born: Several, parents: Iterable[str], seen: set[str]
) -> dict[str, list[str]]:
    asked = set(parents)
    pairs = {pair for _, connection in shelves for pair in reading.children(connection, asked)}
    pairs |= {(parent, one) for parent in asked for one in born.get(parent, ())}
    found: dict[str, list[str]] = {}
    taken = set(seen)  # of two parents in one generation the first has it
    for parent, child in sorted(pairs, key=lambda pair: (_number(pair[1]), pair[0])):
        if child not in taken:
            taken.add(child)
            found.setdefault(parent, []).append(child)
    return found


def _number(env_id: str) -> tuple[str, int]:
    name, _, version = env_id.rpartition("-v")
    return name, int(version)
