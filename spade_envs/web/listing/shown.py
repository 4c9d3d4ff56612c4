"""What the index shows, as values: their JSON is the page's twin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spade_envs.contract.plain import plain
from spade_envs.records.brief import Brief
from spade_envs.registry.catalogue import Answer
from spade_envs.web.listing.asked import PER_PAGE, Asked
from spade_envs.web.listing.facets import Facet, facets_of


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
    rows: tuple[Brief, ...]
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
    total, more = answer.total, asked.page * PER_PAGE < answer.total
    last = max(1, -(-total // PER_PAGE))
    before = min(asked.page - 1, last)
    return Index(
        asked=asked,
        total=total,
        first=(asked.page - 1) * PER_PAGE + 1,
        rows=answer.rows,
        facets=facets_of(asked, answer.facets),
        previous=asked.address(page=before) if before else None,
        next=asked.address(page=asked.page + 1) if more else None,
        near=near,
    )
