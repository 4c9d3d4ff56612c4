"""How much playing one server holds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much playing one server holds.

    Attributes:
        games: of all sessions together.
        games_of_one: of one session, those that are over not counted.
        workers: processes with a running game at one time.
        idle_s: seconds after which a game that nobody moves gives its worker back.
        forget_s: seconds after which a game that nobody looks at is forgotten.
        wait_s: seconds that a request waits for another one on the same game, or for a worker.
        again_s: seconds in which a game must have been played again.
        expert_s: seconds for which an expert plays before it hands back.
        threads: moves that are carried out at once, over all games.
        said: characters that a game's moves have together.
    """

    games: int = 1_000
    games_of_one: int = 20
    workers: int = 64
    idle_s: float = 60.0
    forget_s: float = 24 * 3600.0
    wait_s: float = 30.0
    again_s: float = 10.0
    expert_s: float = 5.0
    threads: int = 8
    said: int = 100_000
