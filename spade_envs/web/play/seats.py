"""Who sits at which game: a bounded number of seats, and what happens to those that nobody uses."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from spade_envs.errors import SpadeError
from spade_envs.web.play.bounds import Bounds
from spade_envs.web.play.game import Game, Start
from spade_envs.web.play.table import Table


class NoRoom(SpadeError):
    """The server holds as much as it may; the message says of what, and what helps."""


@dataclass(eq=False)
class Seat:
    """One session's place in one game. Whoever holds the lock may look at it and change it.

    Attributes:
        game: as it is; None until it has begun.
        table: None while the game has no worker.
        opening: whether a worker for it is being started.
        used: when it was last asked for, on the monotonic clock.
    """

    owner: str
    start: Start
    lock: threading.Lock = field(default_factory=threading.Lock)
    game: Game | None = None
    table: Table | None = None
    opening: bool = False
    used: float = field(default_factory=time.monotonic)

    def give_back(self) -> None:
        """Give the worker back, if there is one."""
        table, self.table = self.table, None
        if table is not None:
            table.close()


class Seats:
    """All seats of a server. Threads may share it."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._seats: dict[tuple[str, Start], Seat] = {}
        self._lock = threading.Lock()

    @contextmanager
    def held(self, owner: str, start: Start) -> Iterator[Seat]:
        """Hold a session's seat in a game; one that has no game afterwards is let go.

        Raises:
            NoRoom: there is no room for one more, or another request on the same game takes too long.
        """
        seat = self._taken(owner, start)
        try:
            seat.used = time.monotonic()
            yield seat
        finally:
            if seat.game is None:
                self._remove(seat)
            seat.lock.release()

    def of(self, owner: str) -> list[Seat]:
        """Return a session's seats, the last used first."""
        with self._lock:
            own = [seat for seat in self._seats.values() if seat.owner == owner]
        return sorted(own, key=lambda seat: -seat.used)

    def leave(self, owner: str, start: Start) -> None:
        """Let a seat go, once nobody holds it."""
        with self._lock:
            seat = self._seats.get((owner, start))
        if seat is not None:
            with seat.lock:
                self._remove(seat)

    @property
    def workers(self) -> int:
        """How many seats have a worker, or are about to."""
        with self._lock:
            return sum(seat.table is not None or seat.opening for seat in self._seats.values())

    def make_room(self, seat: Seat) -> None:
        """Let a seat that is held open a table, by closing that of another game if need be.

        Raises:
            NoRoom: all games with a worker are being played this moment.
        """
        until = time.monotonic() + self._bounds.wait_s
        while not self._may_open(seat):
            if not self._closed_one() and time.monotonic() > until:
                raise NoRoom(f"all {self._bounds.workers} workers are busy; try again in a few seconds")
            time.sleep(0.02)

    def sweep(self, idle_s: float) -> None:
        """Take workers back from games that nobody moves, and let go those that nobody looks at."""
        now = time.monotonic()
        for seat in self._by_use():
            if now - seat.used >= idle_s and seat.lock.acquire(blocking=False):
                try:
                    seat.give_back()
                    if now - seat.used >= self._bounds.forget_s:
                        self._remove(seat)
                finally:
                    seat.lock.release()

    def close(self) -> None:
        """Let all seats go."""
        for seat in self._by_use():
            with seat.lock:
                self._remove(seat)

    def _taken(self, owner: str, start: Start) -> Seat:
        """Return a seat whose lock is held, and which is still one."""
        until = time.monotonic() + self._bounds.wait_s
        while True:
            with self._lock:
                seat = self._seats.get((owner, start)) or self._added(owner, start)
            if not seat.lock.acquire(timeout=max(0.0, until - time.monotonic())):
                raise NoRoom("another move of this game still goes on; try again in a few seconds")
            if self._seats.get((owner, start)) is seat:
                return seat
            seat.lock.release()

    def _added(self, owner: str, start: Start) -> Seat:
        own = [seat for seat in self._seats.values() if seat.owner == owner]
        if len(own) >= self._bounds.games_of_one and not self._dropped(own):
            raise NoRoom(f"you have {len(own)} games running, as many as may be; leave one of them first")
        everyone = [*self._seats.values()]
        if len(everyone) >= self._bounds.games and not self._dropped(everyone):
            raise NoRoom(f"{len(everyone):,} games are running here, as many as may be; try again later")
        seat = self._seats[owner, start] = Seat(owner, start)
        return seat

    def _dropped(self, seats: list[Seat]) -> bool:
        """Drop the game that has been over for the longest time; say whether there was one."""
        over = [one for one in seats if one.game is not None and one.game.over and not one.lock.locked()]
        if not over:
            return False
        oldest = min(over, key=lambda seat: seat.used)
        del self._seats[oldest.owner, oldest.start]
        return True

    def _remove(self, seat: Seat) -> None:
        seat.give_back()
        with self._lock:
            if self._seats.get((seat.owner, seat.start)) is seat:
                del self._seats[seat.owner, seat.start]

    def _may_open(self, seat: Seat) -> bool:
        with self._lock:
            others = sum(
                (one.table is not None or one.opening) and one is not seat for one in self._seats.values()
            )
            seat.opening = others < self._bounds.workers
            return seat.opening

    def _closed_one(self) -> bool:
        """Take the worker back from the game that has not been moved for the longest time."""
        for seat in self._by_use():
            if seat.table is not None and seat.lock.acquire(blocking=False):
                try:
                    seat.give_back()
                finally:
                    seat.lock.release()
                return True
        return False

    def _by_use(self) -> list[Seat]:
        with self._lock:
            return sorted(self._seats.values(), key=lambda seat: seat.used)
