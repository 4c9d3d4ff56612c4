"""The list of runs, as a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spade_envs.charts import sparkline
from spade_train.report.series import success
from spade_train.report.values import RunFacts
from spade_train.runs.views import RunView
from spade_train.web.comparing import MOST
from spade_train.web.shelf import Shelf, UnknownRunError

LISTED = 200
"""The most runs that are read for a list."""


@dataclass(frozen=True, slots=True)
class Listed:
    """One run; ``curve`` is a small picture of its success, as markup."""

    view: RunView
    curve: str


@dataclass(frozen=True, slots=True)
class Runs:
    """The page.

    Attributes:
        folder: where the runs lie.
        total: how many there are; the newest names are listed.
        most: how many can be compared.
    """

    folder: str
    runs: tuple[Listed, ...]
    total: int
    most: int = MOST

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data, without the pictures."""
        return {
            "folder": self.folder,
            "total": self.total,
            "runs": [one.view.as_dict() for one in self.runs],
        }


def runs(shelf: Shelf) -> Runs:
    """Return the runs of a folder, the last name first: runs without a name of their own have their time's."""
    names = shelf.names()[::-1]
    found = []
    for name in names[:LISTED]:
        try:
            found.append(_listed(shelf.facts(name)))
        except UnknownRunError:  # it has gone meanwhile
            continue
    return Runs(str(shelf.folder), tuple(found), len(names))


def _listed(run: RunFacts) -> Listed:
    values = [None if (one := success(each)) is None else one.value for each in run.done]
    known = [value for value in values if value is not None]
    label = f"success, from {known[0]:.2f} to {known[-1]:.2f}" if known else ""
    return Listed(run.view, sparkline(values, label, low=0.0, high=1.0))
