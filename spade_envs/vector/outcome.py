"""What came of asking a vector's instances, put together from what their workers said."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from spade_envs.errors import WorkerFault
from spade_envs.isolation.batch_results import Results
from spade_envs.isolation.batch_wire import Group, values_of
from spade_envs.isolation.columns import Column, index_of


@dataclass(slots=True)
class Outcome:
    """What came of a plan. Arrays have a row for each instance of the vector; those not asked keep their observation.

    Attributes:
        columns: observations by leaves; where an instance failed, its last true one.
        rewards: float64; 0 where an instance failed or was not asked.
        terminated: bool; likewise false.
        truncated: bool; true where an instance failed.
        over: whether an episode may have ended.
        groups: infos by columns.
        infos: the infos of other instances.
        finals: observation and info of episodes after which another has begun.
        views: what each instance renders, where that was asked for.
        faults: instances that failed.
    """

    columns: list[Column]
    rewards: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    over: bool = False
    groups: list[Group] = field(default_factory=list)
    infos: dict[int, dict[str, Any]] = field(default_factory=dict)
    finals: dict[int, tuple[Any, dict[str, Any]]] = field(default_factory=dict)
    views: dict[int, str | None] = field(default_factory=dict)
    faults: dict[int, WorkerFault] = field(default_factory=dict)

    def add(self, asked: Sequence[int], results: Results) -> None:
        """Take what came of asking these instances."""
        rows = index_of(asked)
        for column, found in zip(self.columns, results.columns, strict=True):
            if isinstance(column, np.ndarray):
                column[rows] = found
            else:
                for position, text in zip(asked, found, strict=True):
                    column[position] = text
        self.rewards[rows] = results.rewards
        self.terminated[rows] = results.terminated
        self.truncated[rows] = results.truncated
        self.over = self.over or results.over
        self._add_rest(asked, results)

    def _add_rest(self, asked: Sequence[int], results: Results) -> None:
        self.groups += [
            Group(asked if one.rows is None else [asked[row] for row in one.rows], one.keys, one.columns)  # type: ignore[arg-type]
            for one in results.groups
        ]
        for row, info in results.infos.items():
            self.infos[asked[row]] = info
        for row, final in results.finals.items():
            self.finals[asked[row]] = final
        for row, fault in results.faults.items():
            self.faults[asked[row]] = fault
        if results.views is not None:
            self.views.update(zip(asked, results.views, strict=True))

    def infos_of(self, positions: Iterable[int]) -> dict[int, dict[str, Any]]:
        """Return infos one by one."""
        found: dict[int, dict[str, Any]] = {position: {} for position in positions}
        for group in self.groups:
            rows = zip(*map(values_of, group.columns), strict=True)
            asked = range(len(self.rewards)) if group.rows is None else group.rows
            for position, values in zip(asked, rows, strict=False):
                if position in found:
                    found[position] = dict(zip(group.keys, values, strict=True))
        return found | {position: info for position, info in self.infos.items() if position in found}

    def ended(self) -> list[int]:
        """Return whose episode is over."""
        if not self.over:
            return []
        found: list[int] = (self.terminated | self.truncated).nonzero()[0].tolist()
        return found

    def raise_first(self) -> NoReturn:
        """Raise the first fault, of which there must be one."""
        position, fault = next(iter(self.faults.items()))
        raise WorkerFault(fault.kind, f"environment {position}: {fault}")

    def settle(self, last: Sequence[Column]) -> None:
        """Give instances that failed their last true observation, and end their episodes."""
        self.over = self.over or bool(self.faults)
        for position in self.faults:
            for at, column in enumerate(self.columns):
                empty = 0 if isinstance(column, np.ndarray) else ""
                column[position] = last[at][position] if last else empty
            self.rewards[position] = 0.0
            self.terminated[position], self.truncated[position] = False, True
            self.finals.pop(position, None)
            self.infos[position] = {}


def whole(results: Results) -> Outcome:
    """Return what came of asking all instances of one worker: its arrays as they are."""
    return Outcome(
        results.columns,
        results.rewards,
        results.terminated,
        results.truncated,
        results.over,
        results.groups,
        results.infos,
        results.finals,
        {} if results.views is None else dict(enumerate(results.views)),
        results.faults,
    )


def unasked(columns: Sequence[Column], count: int) -> Outcome:
    """Return an outcome in which nobody has been asked yet: observations are the last ones."""
    kept = [column.copy() for column in columns]
    return Outcome(kept, np.zeros(count), np.zeros(count, bool), np.zeros(count, bool))
