"""Which versions are asked for, and in which order: a question that knows nothing of where it is put."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, get_args

from sqlalchemy import (
    ColumnElement,
    Select,
    TextClause,
    and_,
    bindparam,
    exists,
    literal_column,
    select,
    text,
)

from spade_envs.contract.ids import near_matches
from spade_envs.errors import UsageError
from spade_envs.records.tables import SKILLS, VERSIONS
from spade_envs.records.values import STATUSES, Status

Sort = Literal["name", "newest", "difficulty", "regret", "success", "diversity", "round"]
SORTS: tuple[Sort, ...] = get_args(Sort)
Range = tuple[float, float]
EVERYTHING: Range = (-math.inf, math.inf)


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked for; what is left out does not matter.

    Attributes:
        text: words that the name, title, summary, skills or rules hold, each as a beginning of a word.
        domain, skill, status, origin, run, round, name: equal to.
        difficulty, regret, success: between the two, both included. What was never measured lies in no range.
        all_versions: older versions of a name, too.
        sort: by name and version, or the largest first.
        limit, offset: which part of the answer; None for no limit.

    Raises:
        UsageError: a status or an order that there is not; a range of which the lower end is the higher.
    """

    text: str = ""
    domain: str | None = None
    skill: str | None = None
    status: Status | None = None
    origin: str | None = None
    run: str | None = None
    round: int | None = None
    name: str | None = None
    difficulty: Range = EVERYTHING
    regret: Range = EVERYTHING
    success: Range = EVERYTHING
    all_versions: bool = False
    sort: Sort = "name"
    limit: int | None = None
    offset: int = 0

    def __post_init__(self) -> None:
        _one_of("status", self.status, STATUSES)
        _one_of("order", self.sort, SORTS)
        for name in ("difficulty", "regret", "success"):
            low, high = getattr(self, name)
            if not low <= high:
                raise UsageError(f"{name} from {low} to {high} holds nothing; write the lower end first")


def _one_of(what: str, found: str | None, known: tuple[str, ...]) -> None:
    if found is not None and found not in known:
        near = near_matches(found, known)
        mend = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
        raise UsageError(f"there is no {what} {found!r}; {mend}")


def conditions(query: Query) -> list[ColumnElement[bool]]:
    """Return what a row of ``versions`` has to meet, all of it."""
    columns = VERSIONS.c
    equal = {
        columns.domain: query.domain,
        columns.status: query.status,
        columns.origin: query.origin,
        columns.run: query.run,
        columns.round: query.round,
        columns.name: query.name,
    }
    met = [column == value for column, value in equal.items() if value is not None]
    for column, (low, high) in (
        (columns.difficulty, query.difficulty),
        (columns.regret, query.regret),
        (columns.success, query.success),
    ):
        if (low, high) != EVERYTHING:
            met.append(column.between(low, high))
    if query.skill:
        met.append(exists().where(and_(SKILLS.c.key == columns.key, SKILLS.c.skill == query.skill)))
    if query.text.strip():
        met.append(
            columns.key.in_(select(literal_column("rowid")).select_from(_texts()).where(_holds(query.text)))
        )
    return met if query.all_versions else [*met, columns.newest]


def in_order(statement: Select[Any], sort: Sort) -> Select[Any]:
    """Return the statement with its order: the same for the same rows, whatever the order they came in."""
    columns = VERSIONS.c
    if sort == "name":
        return statement.order_by(columns.name, columns.version)
    column = {"newest": columns.admitted_at, "round": columns.round}.get(sort)
    column = columns[sort] if column is None else column
    return statement.order_by(column.desc().nulls_last(), columns.name, columns.version)


def _texts() -> Any:
    return text("texts")


def _holds(words: str) -> TextClause:
    """Quoted, so that nothing that a person types is a command of the search's own language."""
    terms = " ".join('"{}"*'.format(word.replace('"', '""')) for word in words.split())
    return text("texts MATCH :terms").bindparams(bindparam("terms", terms))
