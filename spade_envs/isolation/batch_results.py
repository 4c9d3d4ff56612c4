"""What a worker says of a batch, checked and built anew: rows in their types, or faults that say what was found."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from gymnasium import spaces

from spade_envs.errors import WorkerFault
from spade_envs.isolation import batch_wire, wire
from spade_envs.isolation.batch_wire import Group, Reply
from spade_envs.isolation.column_checks import ColumnChecker
from spade_envs.isolation.columns import Block, Column, block_bytes, leaves, part_of
from spade_envs.isolation.conform import OutsideError, checker
from spade_envs.isolation.packing import CONTRACT, OK, RAISED
from spade_envs.isolation.results import info_of, unusual_step


class ReplyError(Exception):
    """A worker said what no worker of ours says: it is to be believed in nothing."""


@dataclass(slots=True)
class Results:
    """What came of a request; a row for each instance that was asked. The arrays are copies.

    Attributes:
        columns: observations by leaves; undefined where a row is faulty or undone.
        rewards: float64, finite; likewise.
        terminated: bool; likewise.
        truncated: bool; likewise.
        over: whether an episode may have ended.
        groups: infos by columns.
        infos: the infos of other rows.
        finals: observation and info of episodes after which another has begun.
        views: what each instance renders, where that was asked for.
        faults: rows that failed. Their worker lives; their instance is built anew when it is reset.
        undone: rows for which there was no time.
    """

    columns: list[Column]
    rewards: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    over: bool
    groups: list[Group]
    infos: dict[int, dict[str, Any]] = field(default_factory=dict)
    finals: dict[int, tuple[Any, dict[str, Any]]] = field(default_factory=dict)
    views: list[str | None] | None = None
    faults: dict[int, WorkerFault] = field(default_factory=dict)
    undone: list[int] = field(default_factory=list)


class Reader:
    """Reads the replies of one worker.

    Args:
        space: of the observations, the host's own.
        count: how many instances the worker has.
        places: the memory that it shares; None where columns come in the reply.
    """

    def __init__(self, space: spaces.Space[Any], count: int, places: memoryview | None) -> None:
        self._space, self._count = space, count
        self._block = None if places is None else Block(space, count, places)
        self._columns = ColumnChecker(space, count)
        self._leaves = leaves(space)
        self._texts = sum(leaf.is_text for leaf in self._leaves)
        self._check = checker(space)
        self._zeros = np.zeros(count)

    def results(self, reply: Reply, count: int, call: str) -> Results:
        """Return what is said of so many rows.

        Raises:
            ReplyError: it is not what was asked.
        """
        self._check_lengths(reply, count)
        block = self._block or self._sent(reply.block)
        if count != self._count:
            block = block.first(count)
        # Copied, then checked: the worker may write on.
        rewards, terminated, truncated = block.rewards.copy(), block.terminated.copy(), block.truncated.copy()
        over = terminated.tobytes() + truncated.tobytes()
        if over.strip(b"\0\1"):
            raise ReplyError("flags that are neither true nor false")
        columns = self._copied(block, reply, count)
        results = Results(columns, rewards, terminated, truncated, b"\1" in over, reply.groups)
        unusual = reply.odd or reply.infos or reply.finals or reply.undone or reply.views is not None
        if unusual:
            self._take_unusual(results, reply, call)
        self._check_columns(results, call)
        if unusual:
            for row, data in reply.finals:
                self._final(results, row, data)
        return results

    def _copied(self, block: Block, reply: Reply, count: int) -> list[Column]:
        if not self._texts:
            return [column.copy() for column in block.columns]  # type: ignore[union-attr]
        texts = iter(reply.texts or [[""] * count for _ in range(self._texts)])
        return [next(texts) if column is None else column.copy() for column in block.columns]

    def _take_unusual(self, results: Results, reply: Reply, call: str) -> None:
        results.views, results.undone = reply.views, reply.undone
        for row, data in reply.odd:
            self._whole(results, row, data)
        for row, data in reply.infos:
            self._info(results, row, data, call)

    def _sent(self, data: bytes) -> Block:
        """Return the columns that came in the reply. Where no instance lives there are none, and every row failed."""
        try:
            return Block(self._space, self._count, data or bytearray(block_bytes(self._space, self._count)))
        except TypeError:
            raise ReplyError("columns that are too short") from None

    def _check_lengths(self, reply: Reply, count: int) -> None:
        for group in reply.groups:
            _check_group(group, count)
        lengths = list(map(len, reply.texts))
        if reply.views is not None:
            lengths.append(len(reply.views))
        if lengths.count(count) != len(lengths):
            raise ReplyError("columns of different lengths")
        if reply.odd or reply.infos or reply.finals or reply.undone:
            named = [[row for row, _ in own] for own in (reply.odd, reply.infos, reply.finals)]
            if not all(batch_wire.numbers(rows, count) for rows in (*named, reply.undone)):
                raise ReplyError("rows that were not asked")
        if len(reply.texts) != self._texts:
            apart = {row for row, _ in reply.odd} | {*reply.undone}
            if reply.texts or len(apart) != count:
                raise ReplyError("columns that are missing")

    def _whole(self, results: Results, row: int, data: bytes) -> None:
        """Take a row that is a message of its own."""
        try:
            result = unusual_step(values_of(data, 5))
            observation = self._check(result[0])
        except WorkerFault as fault:
            results.faults[row] = fault
        except OutsideError as error:
            results.faults[row] = _outside("step", error)
        else:
            for leaf, column in zip(self._leaves, results.columns, strict=True):
                column[row] = part_of(observation, leaf.path)
            _, results.rewards[row], results.terminated[row], results.truncated[row], info = result
            results.infos[row], results.over = info, True

    def _info(self, results: Results, row: int, data: bytes, call: str) -> None:
        try:
            (info,) = wire.decode(data)
            results.infos[row] = info_of(call, info)
        except (wire.WireError, ValueError):
            raise ReplyError("an info that cannot be read") from None
        except WorkerFault as fault:
            results.faults[row] = fault

    def _final(self, results: Results, row: int, data: bytes) -> None:
        try:
            observation, info = wire.decode(data)
            results.finals[row] = self._check(observation), info_of("step", info)
        except (wire.WireError, ValueError) as error:
            if isinstance(error, OutsideError):
                results.faults[row] = _outside("step", error)
            else:
                raise ReplyError("a last observation that cannot be read") from None
        except WorkerFault as fault:
            results.faults[row] = fault

    def _check_columns(self, results: Results, call: str) -> None:
        """Note the rows whose reward is not finite or whose observation is not in its space."""
        rewards, known = results.rewards, {*results.faults, *results.undone}
        if not math.isfinite(
            rewards.dot(self._zeros[: len(rewards)])
        ):  # what is not finite, times 0, is not 0
            for row in np.flatnonzero(~np.isfinite(results.rewards)).tolist():
                if row not in known:
                    found = f"{call}: the reward must be a finite float, found float {results.rewards[row]}"
                    results.faults[row] = WorkerFault("contract", found)
        for row, what in self._columns.outside(results.columns, known).items():
            results.faults[row] = _outside(call, what)


def _check_group(group: Group, count: int) -> None:
    rows, columns = group.rows, group.columns
    asked = count if rows is None else len(rows)
    if len(group.keys) != len(columns):
        raise ReplyError("infos of different lengths")
    for column in columns:
        if len(column) != asked:
            raise ReplyError("infos of different lengths")
        if type(column) is bytes and column.strip(b"\0\1"):
            raise ReplyError("flags that are neither true nor false")
    if rows is not None and not batch_wire.numbers(rows, count):
        raise ReplyError("rows that were not asked")


def values_of(data: bytes, count: int) -> list[Any]:
    """Return the values of a row's own message.

    Raises:
        WorkerFault: the row's fault, as the worker says it.
        ReplyError: it is no such message.
    """
    try:
        status, *values = wire.decode(data)
    except (wire.WireError, ValueError):
        raise ReplyError("a row that cannot be read") from None
    if type(status) is not str:
        raise ReplyError("a row without a status")
    if status == OK and len(values) == count:
        return values
    if status in (RAISED, CONTRACT) and len(values) == 1 and type(values[0]) is str:
        raise WorkerFault(status, values[0])
    raise ReplyError("a row that says something else than was asked")


def _outside(call: str, what: object) -> WorkerFault:
    return WorkerFault("contract", f"{call}: the observation is not in its space: {what}")
