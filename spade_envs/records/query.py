"""Which versions are asked for, and in which order: a question that knows nothing of where it is put."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, get_args

from sqlalchemy import CTE, BindParameter, ColumnElement, Select, func, literal_column, or_, select

from spade_envs.contract.header_keys import DOMAINS, ORIGINS
from spade_envs.contract.ids import near_matches
from spade_envs.errors import UsageError
from spade_envs.records.tables import SKILLS, TEXT, VERSIONS
from spade_envs.records.values import EVERYTHING, STATUSES, Range, Sort, Status

RANGES = {
    "difficulty": "difficulty",
    "regret": "regret",
    "success": "success",
    "steps": "max_episode_steps",
}
"""What of a question is a range -> the column it is one of."""
WEIGHTS = {"name": 10, "title": 6, "summary": 3, "skills": 3, "rules": 1}
"""How much a word counts where it stands."""
_LARGEST = 2**62
"""Databases know no much larger whole numbers."""
SORTS: tuple[Sort, ...] = get_args(Sort)


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked for; what is left out does not matter.

    Attributes:
        text: words that the name, title, summary, skills or rules hold, each as a beginning of a word.
        domain, skill, status, origin, run, round, name: equal to.
        tools: whether it has any.
        difficulty, regret, success, steps: between the two, both included. What was never measured lies in no
            range. Steps are the most that an episode has.
        all_versions: older versions of a name, too.
        sort: by name and version, or the largest first; ``"rank"``: what the words fit best.
        limit, offset: which part of the answer; None for no limit.

    Raises:
        UsageError: a domain, status, origin or order that there is not; a range of which the lower end is the
            higher; a part that begins before the first; a rank of no words.
    """

    text: str = ""
    domain: str | None = None
    skill: str | None = None
    status: Status | None = None
    origin: str | None = None
    run: str | None = None
    round: int | None = None
    name: str | None = None
    tools: bool | None = None
    difficulty: Range = EVERYTHING
    regret: Range = EVERYTHING
    success: Range = EVERYTHING
    steps: Range = EVERYTHING
    all_versions: bool = False
    sort: Sort = "name"
    limit: int | None = None
    offset: int = 0

    def __post_init__(self) -> None:
        one_of("domain", self.domain, DOMAINS)
        one_of("status", self.status, STATUSES)
        one_of("origin", self.origin, ORIGINS)
        one_of("order", self.sort, SORTS)
        for name in RANGES:
            low, high = getattr(self, name)
            if not low <= high:
                raise UsageError(f"{name} from {low} to {high} holds nothing; write the lower end first")
        if self.offset < 0 or (self.limit or 0) < 0:
            raise UsageError("no part of an answer begins before the first or is shorter than nothing")
        for name in ("round", "limit", "offset"):
            if abs(getattr(self, name) or 0) >= _LARGEST:
                raise UsageError(f"{name} {getattr(self, name)} is larger than any; write a smaller number")
        if self.sort == "rank" and not self.text.strip():
            raise UsageError("only words that are searched for give a rank; name another order")


@dataclass(frozen=True, slots=True)
class Scope:
    """Which versions count where the records are one part of a stack of registries.

    Attributes:
        hidden: keys of those that do not.
        newest: keys of those that count as the newest of their name, although the records have a newer one.
    """

    hidden: frozenset[int] = frozenset()
    newest: frozenset[int] = frozenset()


def matching(query: Query, scope: Scope, *columns: ColumnElement[Any]) -> Select[Any]:
    """Return the statement that gives these columns of what is asked for, in no order.

    It reads nothing of ``versions`` but what the index ``versions_listed`` holds, if ``columns`` do not.
    """
    met = _conditions(query)
    if not query.all_versions:
        extra = [VERSIONS.c.key.in_(each(scope.newest))] if scope.newest else []
        met.append(or_(VERSIONS.c.newest, *extra))
    if scope.hidden:
        met.append(VERSIONS.c.key.not_in(each(scope.hidden)))
    return select(*columns).where(*met)


def in_order(query: Query, scope: Scope) -> Select[Any]:
    """Return the statement that gives the keys and what they are sorted by, in the order that is asked for.

    The same rows have the same order, whatever the order they came in.
    """
    columns = VERSIONS.c
    if query.sort == "name":
        by = matching(query, scope, columns.key, literal_column("NULL").label("by"))
        return by.order_by(columns.name, columns.version)
    if query.sort == "rank":
        ranks = _ranks(query.text)
        ranked = matching(query, scope, columns.key, ranks.c.rank.label("by"))
        ranked = ranked.join_from(VERSIONS, ranks, ranks.c.key == columns.key)
        return ranked.order_by(ranks.c.rank.desc(), columns.name, columns.version)
    value = columns[{"newest": "admitted_at"}.get(query.sort, query.sort)]
    ordered = matching(query, scope, columns.key, value.label("by"))
    return ordered.order_by(value.desc().nulls_last(), columns.name, columns.version)


def each(values: Iterable[str | int]) -> Select[Any]:
    """Return values to be looked among: one parameter, however many they are."""
    return select(func.json_each(json.dumps(list(values))).table_valued("value").c.value)


def one_of(what: str, found: str | None, known: tuple[str, ...]) -> None:
    """Raise UsageError, with the nearest word, where one is none of few."""
    if found is not None and found not in known:
        near = near_matches(found, known)
        mend = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
        raise UsageError(f"there is no {what} {found!r}; {mend}")


def _conditions(query: Query) -> list[ColumnElement[bool]]:
    columns = VERSIONS.c
    equal = ("domain", "status", "origin", "run", "round", "name")
    wanted = {columns[name]: getattr(query, name) for name in equal}
    met = [column == _encodable(value) for column, value in wanted.items() if value is not None]
    if query.tools is not None:
        met.append(columns.tools > 0 if query.tools else columns.tools == 0)
    for name, column in RANGES.items():
        if (between := getattr(query, name)) != EVERYTHING:
            met.append(columns[column].between(*between))
    if query.skill:
        with_it = SKILLS.c.skill == _encodable(query.skill)
        met.append(columns.key.in_(select(SKILLS.c.key).where(with_it)))
    if query.text.strip() and query.sort != "rank":
        met.append(columns.key.in_(select(TEXT.c.rowid).where(holds(query.text))))
    return met


def _ranks(words: str) -> CTE:
    """What holds the words, with a number that is the larger the better they fit: rare ones, in the name above all."""
    rank = -func.bm25(literal_column("texts"), *WEIGHTS.values())
    found = select(TEXT.c.rowid.label("key"), rank.label("rank")).where(holds(words))
    return found.cte("ranks").prefix_with("MATERIALIZED")


def holds(words: str | BindParameter[str]) -> ColumnElement[bool]:
    """Return the condition that a text holds all of these words, each as a beginning of one.

    Args:
        words: as a person wrote them, or what will stand for what :func:`terms` makes of them.
    """
    found = terms(words) if isinstance(words, str) else words
    return literal_column("texts").op("MATCH", is_comparison=True)(found)


def terms(words: str) -> str:
    """Return words as the full-text search takes them.

    Quoted, so that nothing that a person types is a command of the search's own language.
    """
    known = _encodable(words.replace("\0", " ")).split()
    return " ".join('"{}"*'.format(word.replace('"', '""')) for word in known) or '""'


def _encodable(value: Any) -> Any:
    """What a shell hands over may be no text at all, which no database knows."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
