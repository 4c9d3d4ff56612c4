"""The memory itself: bounded, JSON there and back, the same in every process that is told the same."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import astuple, replace
from typing import Any

from spade_envs.records import Measured
from spade_train.memory.ideas import Idea, keys
from spade_train.memory.profile import ROUNDS, Practice, Season, SkillProfile, profiles, season
from spade_train.memory.record import Record
from spade_train.memory.retrieval import Lesson, Piece, lessons, recall

LIMIT = 200
"""Records that are kept: as many as SPADE's released code keeps."""


class Memory:
    """The last designs and the agent's last rounds.

    Over ``limit``, one record is forgotten for each new one. Refused designs may fill half of the memory and no
    more: beyond that the oldest of them goes, else the admitted one of which nothing was learned for longest.
    """

    def __init__(
        self, records: Iterable[Record] = (), limit: int = LIMIT, seasons: Iterable[tuple[int, Season]] = ()
    ) -> None:
        self.limit = limit
        self._records: dict[tuple[object, ...], Record] = {}
        self._seasons: dict[int, Season] = dict(seasons)
        for record in records:
            self.add(record)

    def __len__(self) -> int:
        return len(self._records)

    @property
    def records(self) -> tuple[Record, ...]:
        """Return every record, the oldest first."""
        return tuple(self._records.values())

    def add(self, record: Record) -> None:
        """Remember a record under its idea's key. A round that is played again takes its old records' place."""
        place = (
            (record.id,)
            if record.id and not record.refused
            else (record.round, record.id, record.tree, record.refused)
        )
        self._records.pop(place, None)
        key = record.key or self.ideas([record.meaning])[0] or ""
        self._records[place] = replace(record, key=key)
        while len(self) > self.limit:
            del self._records[self._least()]

    def ideas(self, new: Iterable[Idea | None]) -> list[str | None]:
        """Return the keys under which ideas will be remembered, if they are added in this order."""
        known: dict[str, list[Idea]] = {}
        for record in self._records.values():
            known.setdefault(record.key, []).append(record.meaning)
        return keys(new, known)

    def learn(self, number: int, measured: Sequence[Measured], skills: Mapping[str, Sequence[str]]) -> None:
        """Take a round's measures: of designs that were played again, and of the agent by skill.

        Args:
            number: the round.
            measured: one entry for each environment that was played.
            skills: id -> tags.
        """
        for one in measured:
            if (one.id,) in self._records:
                self._records[one.id,] = self._records[one.id,].with_measures(one)
        self._seasons[number] = season(measured, skills)
        self._seasons = dict(sorted(self._seasons.items())[-ROUNDS:])

    def note(self, number: int, standings: Mapping[str, str], shown: Collection[str]) -> None:
        """Note where environments stand after a round, and of what its designer was told.

        Args:
            number: the round.
            standings: id -> status.
            shown: names of what was told, as pieces have them; all records of their ideas count as shown.
        """
        told = {one.key for one in self.records if one.name in shown} - {""}
        for place, record in self._records.items():
            self._records[place] = replace(
                record,
                standing="" if record.refused else standings.get(record.id or "", record.standing),
                shown=number if record.key in told else record.shown,
            )

    def frontier(self, limit: int = 32) -> list[str]:
        """Return the latest environments that are neither too hard nor too easy, the oldest first."""
        return [one.id for one in self.records if one.id and not one.refused and one.on_frontier][-limit:]

    def recall(self, number: int, good: int = 2, bad: int = 1) -> tuple[Piece, ...]:
        """Return what a designer is told in a round: :func:`spade_train.memory.retrieval.recall`."""
        weakness = {one.skill: one.weakness for one in self.profile()}
        return recall(self.records, weakness, number, good, bad)

    def lessons(self, count: int = 3) -> tuple[Lesson, ...]:
        """Return for which reasons designs were refused: :func:`spade_train.memory.retrieval.lessons`."""
        return lessons(self.records, count)

    def profile(self) -> tuple[SkillProfile, ...]:
        """Return how the agent fared by skill in the last rounds, the weakest first."""
        return profiles(list(self._seasons.values()))

    def state(self) -> dict[str, Any]:
        """Return everything as JSON-ready data, for :meth:`from_state`."""
        seasons = {
            str(n): {skill: list(astuple(one)) for skill, one in of.items()}
            for n, of in self._seasons.items()
        }
        return {"limit": self.limit, "records": [one.as_json() for one in self.records], "seasons": seasons}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Memory:
        """Return the memory that :meth:`state` described; one of an earlier version knows no seasons."""
        seasons = (
            (int(number), {skill: Practice(*row) for skill, row in of.items()})
            for number, of in state.get("seasons", {}).items()
        )
        return cls(map(Record.from_json, state["records"]), state["limit"], seasons)

    def _least(self) -> tuple[object, ...]:
        refused = [place for place, one in self._records.items() if one.refused]
        if 2 * len(refused) > self.limit:
            return refused[0]
        rest = [place for place, one in self._records.items() if not one.refused]
        return min(rest or refused, key=lambda place: self._records[place].touched)


def _place(record: Record) -> tuple[object, ...]:
    """Return what tells a record from others: an admitted one's id; of a refused one what it is and when it came."""
    return (
        (record.round, record.id, record.tree, "refused") if record.refused else (record.id or record.tree,)
    )
