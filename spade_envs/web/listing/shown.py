"""What the index shows, as values: their JSON is the page's twin."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from spade_envs.contract.plain import plain
from spade_envs.registry.catalogue import Answer
from spade_envs.web.listing.asked import PER_PAGE, Asked
from spade_envs.web.listing.facets import Facet, facets_of


@dataclass(frozen=True, slots=True)
class Row:
    """One environment.

    Attributes:
        success, regret, regret_low, regret_high: the newest measurement; None where there is none.
        successes, regrets: of the last measurements, the oldest first.
    """

    id: str
    title: str
    summary: str
    domain: str
    skills: tuple[str, ...]
    status: str
    origin: str
    max_episode_steps: int
    tools: int | None
    run: str | None
    round: int | None
    admitted_at: str | None
    difficulty: float | None
    success: float | None
    regret: float | None
    regret_low: float | None
    regret_high: float | None
    successes: tuple[float | None, ...]
    regrets: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Index:
    """One page of the index.

    Attributes:
        asked: what the address says.
        total: how many environments the whole answer has.
        first: the number of the first row, from 1.
        previous, next: addresses of the pages before and after; None where there is none.
        near: for words that nobody knows, what they may have meant.
    """

    asked: Asked
    total: int
    first: int
    rows: tuple[Row, ...]
    facets: tuple[Facet, ...]
    previous: str | None
    next: str | None
    near: dict[str, list[str]]

    def as_dict(self) -> dict[str, Any]:
        """Return the page as JSON-ready data."""
        return {**plain(self), "asked": self.asked.model_dump()}

    @property
    def narrowed(self) -> tuple[Facet, ...]:
        """The facets of which a value is chosen."""
        return tuple(facet for facet in self.facets if facet.cleared is not None)


def shown(asked: Asked, answer: Answer, near: dict[str, list[str]]) -> Index:
    """Return a page of the index."""
    total, more = answer.page.total, asked.page * PER_PAGE < answer.page.total
    last = max(1, -(-total // PER_PAGE))
    before = min(asked.page - 1, last)
    return Index(
        asked=asked,
        total=total,
        first=(asked.page - 1) * PER_PAGE + 1,
        rows=tuple(_rows(answer)),
        facets=facets_of(asked, answer.facets),
        previous=asked.address(page=before) if before else None,
        next=asked.address(page=asked.page + 1) if more else None,
        near=near,
    )


def _rows(answer: Answer) -> Iterable[Row]:
    own = [name for name in Row.__dataclass_fields__ if name not in ("successes", "regrets")]
    for found in answer.page.rows:
        lately = answer.lately.get(found.listed.id, [])
        values = {name: getattr(found.listed, name) for name in own}
        yield Row(
            **values,
            successes=tuple(success for success, _ in lately),
            regrets=tuple(regret for _, regret in lately),
        )
