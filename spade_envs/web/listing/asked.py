"""What an address of the index asks for, and the addresses of what is beside it."""

from __future__ import annotations

import math
from typing import Any, Literal, cast
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict, Field

from spade_envs.contract.printable import printable
from spade_envs.errors import UsageError
from spade_envs.records import Query
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
    page: int = Field(1, ge=1, le=1_000_000, description=f"From 1; of {PER_PAGE} each.")

    def query(self) -> Query:
        """Return the question. Raises UsageError where it cannot be one."""
        words = self.q.strip()
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
        """Return the address of the same with some parts changed: see :meth:`Addresses.address`."""
        return Addresses(self).address(**changes)


class Addresses:
    """Addresses of the index beside one of it.

    Args:
        asked: the one.
    """

    def __init__(self, asked: Asked) -> None:
        self._said = {name: _said(name, value) for name, value in asked.model_dump(exclude={"page"}).items()}

    def address(self, **changes: object) -> str:
        """Return the address with some parts changed; it leads to the first page where no other one is named."""
        said = self._said | {name: _said(name, value) for name, value in changes.items()}
        query = "&".join(part for part in said.values() if part)
        return f"/?{query}" if query else "/"


def _said(name: str, value: object) -> str:
    """Return what an address says of one part; nothing where it is as it would be anyway."""
    if value in ("", Asked.model_fields[name].default):
        return ""
    return urlencode({name: "1" if value is True else value}, errors="replace")


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
        return int(text)
    except ValueError:
        raise UsageError(f"round {printable(text)} is no whole number") from None


def _yes(text: str) -> bool | None:
    if text in ("", "yes", "no"):
        return None if not text else text == "yes"
    raise UsageError(f"tools {printable(text)} is neither yes nor no")
