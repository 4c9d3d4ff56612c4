"""The games that are running: each is one session's, named by its start, and has a worker while it is being played.

A game that nobody moves gives its worker back; when its player returns it is played again from its start and moves.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from spade_envs.errors import WorkerFault
from spade_envs.isolation import WorkerPool
from spade_envs.web.play.bounds import Bounds
from spade_envs.web.play.game import About, Game, Move, Start
from spade_envs.web.play.seats import NoRoom, Seat, Seats
from spade_envs.web.play.table import Table

Sources = Callable[[Start], str]
"""Returns the source of the version that a start names."""
_SWEEPS_S, _SPARES = 5.0, 4


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request brought.

    Attributes:
        game: as it is now.
        note: what its player should be told besides; empty where there is nothing.
        stale: whether the request was made of a turn that is past: it changed nothing.
    """

    game: Game
    note: str = ""
    stale: bool = False


class Keeper:
    """Holds running games. Threads may share it; requests on one game wait for each other.

    Every method that names a game raises

    - UsageError: there is no such version, or level;
    - WorkerFault: it fails before the first move, or is quarantined;
    - NoRoom: the session or the server holds as much as it may, or is busy for too long.

    Args:
        sources: where designs come from.
        bounds: how much is held.
        pool: where workers come from; it is closed with the keeper. One of its own where missing.
    """

    def __init__(
        self, sources: Sources, bounds: Bounds | None = None, pool: WorkerPool | None = None
    ) -> None:
        self._sources, self._bounds = sources, bounds or Bounds()
        self._pool = pool or WorkerPool(spares=_SPARES)
        self._seats = Seats(self._bounds)
        self._closed = threading.Event()
        threading.Thread(target=self._sweep_now_and_then, name="idle games", daemon=True).start()

    def look(self, owner: str, start: Start, moves: Sequence[Move] = ()) -> Answer:
        """Return a session's game; where there is none it is begun, with moves that have been made."""
        with self._seats.held(owner, start) as seat:
            return Answer(seat.game or self._begin(seat, moves))

    def begin(self, owner: str, start: Start, moves: Sequence[Move] = ()) -> Answer:
        """Begin a game anew, with moves that have been made."""
        with self._seats.held(owner, start) as seat:
            return Answer(self._begin(seat, moves))

    def act(self, owner: str, start: Start, turn: int, words: str | Callable[[About], str]) -> Answer:
        """Make a player's move, if it is of the present turn: words, or what finds them knowing what is played."""
        with self._seats.held(owner, start) as seat:
            game = seat.game or self._begin(seat, ())
            if turn != game.turn or game.over:
                return Answer(game, stale=True)
            move = Move(words if isinstance(words, str) else words(game.about))
            self._check_length([*game.moves, move])
            return Answer(self._moved(seat, game, move))

    def expert(self, owner: str, start: Start, turn: int, *, whole: bool = False) -> Answer:
        """Have the expert make the next move, or all of them, as far as time allows."""
        with self._seats.held(owner, start) as seat:
            game = seat.game or self._begin(seat, ())
            if turn != game.turn or game.over:
                return Answer(game, stale=True)
            return self._led(seat, game, self._bounds.expert_s if whole else 0.0)

    def hint(self, owner: str, start: Start, turn: int) -> Answer:
        """Ask for the hint of the present turn."""
        with self._seats.held(owner, start) as seat:
            game = seat.game or self._begin(seat, ())
            if turn != game.turn or game.over:
                return Answer(game, stale=True)
            try:
                seat.game = game.with_hint(self._table(seat, game).hint())
            except WorkerFault as fault:
                return self._failed(seat, game, "The hint failed", fault)
            return Answer(seat.game)

    def leave(self, owner: str, start: Start) -> None:
        """Forget a session's game."""
        self._seats.leave(owner, start)

    def games(self, owner: str) -> list[Game]:
        """Return a session's games, the last used first."""
        return [seat.game for seat in self._seats.of(owner) if seat.game is not None]

    @property
    def workers(self) -> int:
        """How many games have a worker now."""
        return self._seats.workers

    def sweep(self, idle_s: float | None = None) -> None:
        """Take workers back from games that were idle for so long, and forget those that nobody looks at."""
        self._seats.sweep(self._bounds.idle_s if idle_s is None else idle_s)

    def close(self) -> None:
        """End all workers. Safe to call again."""
        self._closed.set()
        self._seats.close()
        self._pool.close()

    def _begin(self, seat: Seat, moves: Sequence[Move]) -> Game:
        self._check_length(moves)
        seat.give_back()
        seat.game = game = self._played(seat, moves)
        if game.over:
            seat.give_back()
        return game

    def _played(self, seat: Seat, moves: Sequence[Move]) -> Game:
        """Open a seat's table and play its episode there up to the last of the moves."""
        source = self._sources(seat.start)
        self._seats.make_room(seat)
        until = time.monotonic() + self._bounds.again_s
        try:
            seat.table = Table(source, seat.start.level, self._pool)
            for game in seat.table.again(seat.start, moves):
                if time.monotonic() > until:
                    raise NoRoom(
                        f"{game.turn} of {len(moves)} moves were played again in {self._bounds.again_s:g} s: the"
                        " environment is too slow now; try again later"
                    )
        except BaseException:
            seat.give_back()
            raise
        finally:
            seat.opening = False
        return game

    def _table(self, seat: Seat, game: Game) -> Table:
        """Return a game's table; where its worker was given back the game is played again at another one."""
        if seat.table is None:
            again = self._played(seat, game.moves)
            if (again.last, again.seen) != (game.last, game.seen):
                seat.give_back()
                raise WorkerFault("contract", "the design does not repeat its episode for the same moves")
        assert seat.table is not None
        return seat.table

    def _moved(self, seat: Seat, game: Game, move: Move) -> Game:
        fatal = None
        try:
            table = self._table(seat, game)
            fatal = move
            game = game.after(*table.act(move))
        except WorkerFault as fault:
            game = game.stop(f"{fault.kind}: {fault}", fatal)
        seat.game = game
        if game.over:
            seat.give_back()
        return game

    def _led(self, seat: Seat, game: Game, seconds: float) -> Answer:
        """Have the expert move until the time is up, once at least."""
        until = time.monotonic() + seconds
        while True:
            try:
                move = self._table(seat, game).expert()
            except WorkerFault as fault:
                return self._failed(seat, game, "The expert failed", fault)
            game = self._moved(seat, game, move)
            if game.over:
                return Answer(game)
            if time.monotonic() >= until:
                return Answer(game, "The expert has paused: ask again to have it play on." if seconds else "")

    def _failed(self, seat: Seat, game: Game, what: str, fault: WorkerFault) -> Answer:
        """Say that help could not be had. The game goes on, at another table."""
        seat.give_back()
        return Answer(game, f"{what} ({fault.kind}: {fault}). The game goes on without it.")

    def _check_length(self, moves: Sequence[Move]) -> None:
        if sum(len(move.said) for move in moves) > self._bounds.said:
            raise NoRoom(
                f"the moves of a game hold at most {self._bounds.said:,} characters together; write less"
            )

    def _sweep_now_and_then(self) -> None:
        while not self._closed.wait(_SWEEPS_S):
            self.sweep()
