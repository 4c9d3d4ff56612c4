"""What an address of the index asks for, and the addresses of what is beside it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cached_property
from typing import Any, Literal, cast
from urllib.parse import quote_plus

from pydantic import BaseModel, ConfigDict, Field

from spade_envs.contract.ids import near_matches
from spade_envs.contract.printable import printable
from spade_envs.errors import UsageError
from spade_envs.records import Query
from spade_envs.records.counting import FACETS
from spade_envs.records.query import one_of
from spade_envs.records.values import EVERYTHING, Range, to_range

PER_PAGE = 24


class Asked(BaseModel):
    """The query of an address, as texts: what is empty does not matter."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    q: str = Field("", max_length=300, description="Words, or how they begin.")
    domain: str = ""
    skill: str = Field("", max_length=200)
    status: str = ""
    origin: str = ""
    run: str = Field("", max_length=300, description="The run that admitted it.")
    round: str = Field("", max_length=20, description="The round of a run that admitted it.")
    tools: str = Field("", description="yes or no.")
    difficulty: str = Field("", max_length=60, description="A..B, both included; one may be left out.")
    regret: str = Field("", max_length=60, description="A..B.")
    success: str = Field("", max_length=60, description="A..B.")
    steps: str = Field("", max_length=60, description="A..B, of the most turns that an episode has.")
    name: str = Field("", max_length=100, description="Versions of this name.")
    all: bool = Field(False, description="Older versions, too.")
    sort: str = Field("", description="name, newest, difficulty, regret, success, diversity, round or rank.")
    view: Literal["cards", "table"] = "cards"
    more: str = Field("", description="The facet of which not only the first values are shown.")
    page: int = Field(1, ge=1, le=1_000_000, description=f"From 1; of {PER_PAGE} each.")

    def query(self) -> Query:
        """Return the question. Raises UsageError where it cannot be one."""
        words = self.q.strip()
        one_of("facet", self.more or None, FACETS)
        return Query(
            text=words,
            domain=self.domain or None,
            skill=self.skill or None,
            status=cast("Any", self.status or None),  # the question itself says which there are
            origin=self.origin or None,
            run=self.run or None,
            round=_number(self.round),
            tools=_yes(self.tools),
            difficulty=_range(self.difficulty, "difficulty"),
            regret=_range(self.regret, "regret"),
            success=_range(self.success, "success"),
            steps=_range(self.steps, "steps"),
            name=self.name.removeprefix("spade/") or None,
            all_versions=self.all,
            sort=cast("Any", self.sort or ("rank" if words else "name")),
            limit=PER_PAGE,
            offset=(self.page - 1) * PER_PAGE,
        )

    def address(self, **changes: object) -> str:
        """Return the address of the same with some parts changed; to the first page where no other one is named."""
        said = self._parts | {name: _said(name, value) for name, value in changes.items()}
        query = "&".join(part for part in said.values() if part)
        return f"/?{query}" if query else "/"

    @cached_property
    def _parts(self) -> dict[str, str]:
        return {name: _said(name, getattr(self, name)) for name in DEFAULTS if name != "page"}


DEFAULTS = {name: field.default for name, field in Asked.model_fields.items()}
"""The parameters of an address, and what each of them is where it is left out."""


def check(names: Iterable[str]) -> None:
    """Look whether an address of the index may have these parameters: what is not understood is not passed over.

    Raises:
        UsageError: it has no such parameter.
    """
    known = (*DEFAULTS, "format")
    if unknown := next((name for name in names if name not in known), None):
        near = near_matches(unknown, known)
        advice = f"did you mean {near[0]}?" if near else f"it has {', '.join(known)}"
        raise UsageError(f"the index has no parameter {printable(unknown)!r}; {advice}")


def _said(name: str, value: object) -> str:
    """Return what an address says of one part; nothing where it is as it would be anyway."""
    if value in ("", DEFAULTS[name]):
        return ""
    return f"{name}={quote_plus('1' if value is True else str(value), errors='replace')}"


def written(value: Any) -> str:
    """Return a facet's value as addresses have it."""
    match value:
        case bool():
            return "yes" if value else "no"
        case (low, high):
            return f"{_end(low)}..{_end(high)}"
    return str(value)


def _end(number: float) -> str:
    return "" if math.isinf(number) else f"{number:g}"


def _range(text: str, what: str) -> Range:
    return to_range(text, what) if text else EVERYTHING


def _number(text: str) -> int | None:
    if not text:
        return None
    try:
        number = int(text)
    except ValueError:
        raise UsageError(f"round {printable(text)} is no whole number") from None
    if number < 0:
        raise UsageError(f"round {number} is before the first one, which is 0")
    return number


def _yes(text: str) -> bool | None:
    if text in ("", "yes", "no"):
        return None if not text else text == "yes"
    raise UsageError(f"tools {printable(text)} is neither yes nor no")
