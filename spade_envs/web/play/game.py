"""A game as a value: what it began with, what was done, what is seen now. Whatever computes with it is a pure function.

A game's moves are what its player wrote, as a language model would write them, so a game is played again from its
start and its moves alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from gymnasium import spaces

from spade_envs.contract import EnvId, Header
from spade_envs.web.play.seen import Seen

By = Literal["player", "expert"]
LOG_TURNS, LOG_LENGTH, HINT_LENGTH = 30, 500, 4_000
"""How many turns back a game keeps what was read, and how many characters of each; those of a hint."""


@dataclass(frozen=True, slots=True)
class Start:
    """What decides an episode.

    Attributes:
        env_id: the version.
        level: its difficulty, None where the design has none.
        seed: of the reset.
    """

    env_id: EnvId
    level: int | None
    seed: int


@dataclass(frozen=True, slots=True)
class Move:
    """What was written, and by whom."""

    said: str
    by: By = "player"


@dataclass(frozen=True, slots=True)
class About:
    """What there is to know of a version in order to play it.

    Attributes:
        header: its header.
        rules: its docstring.
        expected: how an action is written, in a sentence.
        action_space: of its actions.
        observation_space: of what it shows.
        names: words for its actions, where it gives them.
        tools: function schemas of a tool-use environment; else empty.
        file_sha256: hash of its file.
    """

    header: Header
    rules: str
    expected: str
    action_space: spaces.Space[Any]
    observation_space: spaces.Space[Any]
    names: tuple[str, ...] | None
    tools: tuple[dict[str, Any], ...]
    file_sha256: str


@dataclass(frozen=True, slots=True)
class Turn:
    """What came of one move; the first turn is the reset.

    Attributes:
        number: moves so far.
        move: None for the reset.
        text: what is read then.
        reward: of this move.
        readable: whether the move could be read as an action; one that could not changes nothing and costs a turn.
        terminated: whether the design ended the episode.
        truncated: whether it was cut off.
        success: what the design says of the goal.
    """

    number: int
    move: Move | None
    text: str
    reward: float = 0.0
    readable: bool = True
    terminated: bool = False
    truncated: bool = False
    success: bool = False

    @property
    def over(self) -> bool:
        """Whether the episode has ended."""
        return self.terminated or self.truncated


@dataclass(frozen=True, slots=True)
class Game:
    """A game, running or over.

    Attributes:
        start: what it began with.
        about: what is played.
        turns: all of them; of past ones the text is cut, of those long ago it is empty.
        seen: what its player has before them.
        hint: that of the present turn, if it was asked for.
        hints: in how many turns one was.
        stopped: the fault that stopped it, if one did; the move that brought it is none of the game's.
        fatal: that move.
    """

    start: Start
    about: About
    turns: tuple[Turn, ...]
    seen: Seen
    hint: str | None = None
    hints: int = 0
    stopped: str | None = None
    fatal: Move | None = None

    @property
    def turn(self) -> int:
        """Moves so far."""
        return self.turns[-1].number

    @property
    def last(self) -> Turn:
        """The present turn."""
        return self.turns[-1]

    @property
    def over(self) -> bool:
        """Whether no move can be made: the episode has ended, or was stopped."""
        return self.last.over or self.stopped is not None

    @property
    def return_(self) -> float:
        """Sum of the rewards."""
        return sum(turn.reward for turn in self.turns)

    @property
    def moves(self) -> tuple[Move, ...]:
        """All moves, in order."""
        return tuple(turn.move for turn in self.turns if turn.move is not None)

    @property
    def expert_moves(self) -> int:
        """How many moves are the expert's."""
        return sum(move.by == "expert" for move in self.moves)

    def after(self, turn: Turn, seen: Seen) -> Game:
        """Return the game with one more turn."""
        past = (*self.turns[:-1], replace(self.last, text=self.last.text[:LOG_LENGTH]))
        if len(past) > LOG_TURNS:
            at = len(past) - LOG_TURNS - 1
            past = (*past[:at], replace(past[at], text=""), *past[at + 1 :])
        return replace(self, turns=(*past, turn), seen=seen, hint=None)

    def with_hint(self, text: str) -> Game:
        """Return the game with the hint that was asked for."""
        return replace(self, hint=text[:HINT_LENGTH], hints=self.hints + (self.hint is None))

    def stop(self, fault: str, fatal: Move | None = None) -> Game:
        """Return the game as a fault leaves it."""
        return replace(self, stopped=fault, fatal=fatal)


def ending(game: Game) -> str:
    """Say how a game has ended, and why; nothing where it goes on."""
    last = game.last
    if game.stopped is not None:
        return f"Stopped: {game.stopped}"
    if not last.over:
        return ""
    if last.terminated:
        return "Won: the goal was reached." if last.success else "Lost: the goal was not reached."
    limit = game.about.header.max_episode_steps
    why = f"all {limit} turns are used up" if last.number >= limit else "the environment cut the episode off"
    return f"Cut off: {why}, and the goal was {'' if last.success else 'not '}reached."
