"""Recorded episodes, played again turn by turn: given moves, the expert's, the one behind a report's finding."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

from spade_envs.contract.plain import to_json
from spade_envs.errors import UsageError, WorkerFault
from spade_envs.isolation import WorkerPool
from spade_envs.registry.versions import Entry
from spade_envs.replay import Step, episode_of
from spade_envs.replay import replay as played
from spade_envs.text_face import ActionFormat
from spade_envs.web.play.game import By, Move, Start, Turn
from spade_envs.web.play.seen import PART_LENGTH, PARTS, TEXT_LENGTH, Part, Seen
from spade_envs.web.play.table import Table

SECONDS, SIZE, KEPT = 20.0, 8_000_000, 8
"""How long an episode may take to be played again, how much it may say, and how many episodes are kept."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A turn, and what was seen then."""

    turn: Turn
    seen: Seen

    @property
    def size(self) -> int:
        """About how many bytes it holds."""
        parts = sum(len(part.value) for part in self.seen.parts)
        return len(self.turn.text) + len(self.seen.text) + parts + len(self.seen.picture or b"")


@dataclass(frozen=True, slots=True)
class Recording:
    """An episode that was played again.

    Attributes:
        start: what it began with.
        by: who made its moves, in words.
        frames: in order; the first is the reset.
        note: what else should be told of it: the finding that it is behind, why it is not whole.
        stopped: the fault that ended it, if one did.
    """

    start: Start
    by: str
    frames: tuple[Frame, ...]
    note: str = ""
    stopped: str | None = None

    def total(self, at: int) -> float:
        """Return the sum of the rewards up to a frame."""
        return sum(frame.turn.reward for frame in self.frames[: at + 1])


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which episode of a version.

    Attributes:
        start: version, level and seed; those of a finding's episode stand in the report.
        moves: that are made; None for the expert's.
        finding: the number of a finding of its report, from 1, in place of both.
        face: how moves are marked: a model's replies are, in the format of its run.
    """

    start: Start
    moves: tuple[Move, ...] | None = None
    finding: int | None = None
    face: ActionFormat = "raw"


class Recordings:
    """Plays episodes again, and keeps the last ones. Threads may share it.

    Args:
        entries: returns the version that a start names.
        pool: where workers come from.
    """

    def __init__(self, entries: Callable[[Start], Entry], pool: WorkerPool) -> None:
        self._entries, self._pool = entries, pool
        self._kept: OrderedDict[tuple[str, Wanted], Recording] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, wanted: Wanted) -> Recording:
        """Return an episode.

        Raises:
            UsageError: there is no such version, level or finding.
            WorkerFault: the design fails before the first move, or is quarantined.
        """
        entry = self._entries(wanted.start)
        key = (entry.file_sha256, wanted)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = self._made(entry, wanted)
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return made

    def _made(self, entry: Entry, wanted: Wanted) -> Recording:
        start = wanted.start
        if wanted.finding is not None:
            return _of_finding(entry, wanted)
        if wanted.moves is None:
            return _recorded(Recording(start, "the expert", ()), _expert(entry.source, start))
        table = Table(entry.source, start.level, self._pool, wanted.face)
        try:
            games = table.again(start, wanted.moves)
            return _recorded(
                Recording(start, "a player" if wanted.face == "raw" else "a model", ()),
                (Frame(game.last, game.seen) for game in games),
            )
        finally:
            table.close()


def _of_finding(entry: Entry, wanted: Wanted) -> Recording:
    recorded, finding = episode_of(entry.report, wanted.finding or 0)
    start = Start(wanted.start.env_id, recorded.level, recorded.seed)
    note = f"{finding.get('found')} [{finding.get('rule')}]"
    steps = played(entry.source, recorded.level, recorded.seed, recorded.actions)
    blank = Recording(start, f"the policy {recorded.policy}", (), note)
    return _recorded(blank, _frames(steps, "player"))


def _expert(source: str, start: Start) -> Iterator[Frame]:
    return _frames(played(source, start.level, start.seed), "expert")


def _frames(steps: Iterable[Step], by: By) -> Iterator[Frame]:
    """Yield the frames of an episode that is played natively. Raises WorkerFault where a fault ends it."""
    for step in steps:
        if step.fault is not None:
            raise WorkerFault("stopped", f"{step.fault} (at the action {step.action})")
        move = None if step.action is None else Move(step.action, by)
        yield Frame(
            Turn(
                step.number, move, step.text, step.reward, True, step.terminated, step.truncated, step.success
            ),
            _seen(step),
        )


def _seen(step: Step) -> Seen:
    if isinstance(step.observation, str):
        return Seen(step.text[:TEXT_LENGTH])
    named = step.observation if isinstance(step.observation, dict) else {"": step.observation}
    parts = (Part(name, "", to_json(value)[:PART_LENGTH]) for name, value in islice(named.items(), PARTS))
    return Seen(step.text[:TEXT_LENGTH], tuple(parts))


def _recorded(blank: Recording, frames: Iterable[Frame]) -> Recording:
    """Return a recording with its frames, as many as there are time and room for."""
    until, length, kept = time.monotonic() + SECONDS, 0, list[Frame]()
    try:
        for frame in frames:
            length += frame.size
            if kept and (length > SIZE or time.monotonic() > until):
                more = f"The rest is not shown: it {'says too much' if length > SIZE else 'takes too long'}."
                return replace(blank, frames=tuple(kept), note=f"{blank.note} {more}".strip())
            kept.append(frame)
    except WorkerFault as fault:
        if not kept:
            raise
        said = str(fault) if fault.kind == "stopped" else f"{fault.kind}: {fault}"
        return replace(blank, frames=tuple(kept), stopped=said)
    except UsageError as error:  # a report of long ago holds an action that the design's space has not
        if not kept:
            raise
        return replace(blank, frames=tuple(kept), note=f"{blank.note} {error}".strip())
    return replace(blank, frames=tuple(kept))
