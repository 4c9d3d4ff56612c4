"""The worker's reply to a batch: columns where they fit, and a message of its own for each row that does not."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from spade_envs.isolation import batch_wire, wire
from spade_envs.isolation.batch_wire import SCALARS, Group, Reply
from spade_envs.isolation.filling import Filler, UnfitError
from spade_envs.isolation.instance import ContractError
from spade_envs.isolation.spaces import SpaceError
from spade_envs.language import describe as describe_error

OK: Final = "ok"
RAISED, CONTRACT, MEMORY = "raised", "contract", "memory"
TRAVELS = "return numbers, text, NumPy arrays, and lists, tuples and dicts of these"
_TEXT = frozenset({str})


def failure(error: BaseException) -> tuple[str, str]:
    """Return the kind of fault that an exception is, and its text."""
    if isinstance(error, wire.WireError):
        return CONTRACT, f"the result holds {error}; {TRAVELS}"
    if isinstance(error, (ContractError, SpaceError)):
        return CONTRACT, str(error)
    return RAISED, describe_error(error).encode("utf-8", "replace").decode()


@dataclass
class Packing:
    """What became of one request: a result (observation, reward, terminated, truncated, info) for each row.

    Attributes:
        at: where the number of the row at work is noted.
        results: None for a row that failed, or for which there was no time.
        faults: for rows that failed, what to tell the host.
        finals: see :class:`~spade_envs.isolation.batch_wire.Reply`.
        undone: likewise.
        views: likewise.
    """

    at: Any
    results: list[tuple[Any, ...] | None] = field(default_factory=list)
    faults: dict[int, bytes] = field(default_factory=dict)
    finals: dict[int, bytes] = field(default_factory=dict)
    undone: list[int] = field(default_factory=list)
    views: list[str | None] | None = None

    def fail(self, row: int, error: BaseException, call: str) -> None:
        """Note that a row failed in a call."""
        kind, text = failure(error)
        self.faults[row] = wire.encode([kind, f"{call}: {text}"])
        self.finals.pop(row, None)
        if row < len(self.results):
            self.results[row] = None

    def packed(self, filler: Filler | None, block: Any, most: int) -> bytes:
        """Return the reply, of at most so many bytes."""
        for attempt in (self._at_once, self._row_by_row):
            try:
                reply = attempt(filler)
                if block:
                    reply.block = bytes(block)
                data = batch_wire.encode(reply)
            except (UnfitError, OverflowError, UnicodeEncodeError, wire.WireError):
                continue
            if len(data) <= most:
                return data
        return self._apart(most)

    def _at_once(self, filler: Filler | None, whole: bool = True) -> Reply:
        odd = list(self.faults.items())
        if whole and filler is not None and self.results and not odd and not self.undone:
            columns = tuple(zip(*self.results, strict=True))
            texts = filler.fill_columns(*columns)
            return self._reply(texts, *self._infos(range(len(self.results)), columns[4]), [])
        rows = [row for row, result in enumerate(self.results) if result is not None]
        if filler is None or not rows:
            return self._reply([], [], [], odd)
        found = filler.fill([self.results[row] for row in rows], rows)  # type: ignore[misc]
        texts = [self._spread(column, rows) for column in found]
        groups, infos = self._infos(rows, [self.results[row][4] for row in rows])  # type: ignore[index]
        return self._reply(texts, groups, infos, odd)

    def _row_by_row(self, filler: Filler | None) -> Reply:
        """Find out which rows do not fit, and leave those to the host."""
        assert filler is not None
        apart: dict[int, bytes] = {}
        for row, result in enumerate(self.results):
            if result is not None:
                self.at[0] = row
                try:
                    filler.fill([result], [row])
                except UnfitError:
                    apart[row] = self._alone(row)
        kept = self.results
        self.results = [None if row in apart else result for row, result in enumerate(kept)]
        reply = self._at_once(filler, whole=not apart)
        self.results = kept
        reply.odd = [*reply.odd, *apart.items()]
        return reply

    def _apart(self, most: int) -> bytes:
        """Return a reply in which each row is a message of its own, and none is larger than its share."""
        share = most // max(len(self.results), 1) - 64
        odd = dict(self.faults)
        for row, result in enumerate(self.results):
            if result is not None:
                self.at[0] = row
                odd[row] = self._alone(row)
                view = None if self.views is None else self.views[row]
                size = len(odd[row]) + len(self.finals.get(row, b"")) + 4 * len(view or "")
                if size > share:
                    text = f"step: the result has {size:,} bytes; at most {share:,} of one of {len(self.results)}"
                    odd[row] = wire.encode([CONTRACT, f"{text} instances leave a worker at once"])
                    self.finals.pop(row, None)
                    if self.views is not None:
                        self.views[row] = None
        return batch_wire.encode(self._reply([], [], [], list(odd.items())))

    def _alone(self, row: int) -> bytes:
        try:
            return wire.encode([OK, *self.results[row]])  # type: ignore[misc]
        except wire.WireError as error:
            kind, text = failure(error)
            return wire.encode([kind, f"step: {text}"])

    def _spread(self, column: Sequence[str], rows: Sequence[int]) -> list[str]:
        full = [""] * len(self.results)
        for row, text in zip(rows, column, strict=True):
            full[row] = text
        return full

    def _infos(
        self, rows: Sequence[int], infos: Sequence[Any]
    ) -> tuple[list[Group], list[tuple[int, bytes]]]:
        """Return infos by the keys that they have, and those that are no dictionaries of plain values."""
        if list(map(type, infos)).count(dict) != len(infos):
            raise UnfitError
        if not all(infos):  # those that are empty, as most are after a reset, say nothing
            rows, infos = (
                [row for row, info in zip(rows, infos, strict=True) if info],
                list(filter(None, infos)),
            )
            if not infos:
                return [], []
        count, first = len(infos), infos[0]
        every = None if count == len(self.results) else list(rows)
        if list(map(len, infos)).count(len(first)) == count:
            try:
                columns = [[info[key] for info in infos] for key in first]
            except KeyError:
                pass
            else:
                if _columnar(first, columns):
                    return [Group(every, list(first), list(map(_packed, columns)))], []
        kinds: dict[Any, Any] = {}
        for row, info in zip(rows, infos, strict=True):
            members = kinds.setdefault(tuple(info), ([], []))
            members[0].append(row)
            members[1].append(info)
        return self._grouped(kinds)

    def _grouped(self, kinds: dict[Any, Any]) -> tuple[list[Group], list[tuple[int, bytes]]]:
        groups, others = [], []
        for keys, (members, infos) in kinds.items():
            columns = [list(column) for column in zip(*map(dict.values, infos), strict=True)]
            if _columnar(keys, columns):
                groups.append(Group(members, list(keys), list(map(_packed, columns))))
                continue
            for row, info in zip(members, infos, strict=True):
                self.at[0] = row
                others.append((row, wire.encode([info])))
        return groups, others

    def _reply(self, texts: Any, groups: Any, infos: Any, odd: Any) -> Reply:
        return Reply(OK, texts, self.views, groups, infos, odd, list(self.finals.items()), self.undone, b"")


def _packed(column: list[Any]) -> list[Any] | bytes:
    """Return a column in the form in which it travels."""
    return bytes(column) if list(map(type, column)).count(bool) == len(column) else column


def _columnar(keys: Collection[Any], columns: Sequence[Sequence[Any]]) -> bool:
    """Say whether infos may stand in columns: texts as keys, and plain values."""
    return (
        len(keys) <= batch_wire.MOST_KEYS
        and _TEXT.issuperset(map(type, keys))
        and all(SCALARS.issuperset(map(type, column)) for column in columns)
    )
