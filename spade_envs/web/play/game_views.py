"""What pages of games show, as values; their JSON, too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spade_envs.web.play.choices import Choices, choices
from spade_envs.web.play.data import data_uri, seen_data, start_data, turn_data
from spade_envs.web.play.episodes import ADDRESS_LENGTH, MOST_SEED, address, write_moves
from spade_envs.web.play.game import Game, Start, Turn, ending

LOG_MOVES = 100
"""How many moves a page lists."""


@dataclass(frozen=True, slots=True)
class GamePage:
    """A game as its player sees it.

    Attributes:
        game: as it is now.
        note: what the player should be told besides.
        stale: whether the page that asked for it was of a turn that is past.
        other: where another episode stands that was asked for; empty where there is none.
    """

    game: Game
    note: str = ""
    stale: bool = False
    other: str = ""

    @property
    def picture(self) -> str:
        """The address of what is seen as a picture; empty where there is none."""
        return data_uri(self.game.seen.picture)

    @property
    def choices(self) -> Choices:
        """What may be done."""
        return choices(self.game.about)

    @property
    def ending(self) -> str:
        """How it has ended; empty where it goes on."""
        return ending(self.game)

    @property
    def limit(self) -> int:
        """The turns that it may take."""
        return self.game.about.header.max_episode_steps

    @property
    def levels(self) -> range:
        """The levels that there are."""
        return range(1, (self.game.about.header.difficulty_levels or 0) + 1)

    @property
    def here(self) -> str:
        """The game's address, with its moves where they are short."""
        return address("play", self.game.start, self.game.moves)

    @property
    def bare(self) -> str:
        """The address of its start."""
        return address("play", self.game.start)

    @property
    def next(self) -> str:
        """The address of the game with the next seed."""
        start = self.game.start
        return address("play", Start(start.env_id, start.level, (start.seed + 1) % (MOST_SEED + 1)))

    @property
    def whole(self) -> bool:
        """Whether the address holds the whole game."""
        return len(write_moves(self.game.moves)) <= ADDRESS_LENGTH

    @property
    def replay(self) -> str:
        """The address of its episode, step by step; that of its file where it is too long for one."""
        return address("replay", self.game.start, self.game.moves)

    @property
    def file(self) -> str:
        """The address of its file."""
        name, _, query = self.bare.partition("?")
        return f"{name}/episode?{query}"

    @property
    def log(self) -> tuple[Turn, ...]:
        """The newest turns with a move, the newest first."""
        return self.game.turns[:0:-1][:LOG_MOVES]

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        game, about = self.game, self.game.about
        return {
            **start_data(game.start),
            "title": about.header.title,
            "rules": about.rules,
            "expected": about.expected,
            "action_space": str(about.action_space),
            "action_names": about.names,
            "tools": list(about.tools),
            "turn": game.turn,
            "turns": self.limit,
            "observation": seen_data(game.seen),
            "last": turn_data(game.last),
            "return": game.return_,
            "over": game.over,
            "ending": self.ending,
            "hint": game.hint,
            "hints": game.hints,
            "expert_moves": game.expert_moves,
            "moves": [{"said": move.said, "by": move.by} for move in game.moves],
            "note": self.note,
            "stale": self.stale,
            "address": self.here,
        }


@dataclass(frozen=True, slots=True)
class GamesPage:
    """A session's games.

    Attributes:
        games: the last used first.
        most: how many may run.
    """

    games: tuple[GamePage, ...]
    most: int

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {
            "most": self.most,
            "games": [
                {
                    **start_data(page.game.start),
                    "turn": page.game.turn,
                    "ending": page.ending,
                    "address": page.here,
                }
                for page in self.games
            ],
        }


@dataclass(frozen=True, slots=True)
class FaultPage:
    """Why a version cannot be played now.

    Attributes:
        start: what was to be played.
        fault: what its worker did, or had done to it.
        again: where it can be tried again.
    """

    start: Start
    fault: str
    again: str
