"""A table to play at: a version's environment in a worker, with the text face between it and its player."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gymnasium.envs.registration import EnvSpec

from spade_envs.contract import file_sha256
from spade_envs.envs import IsolatedEnv
from spade_envs.isolation import WorkerPool
from spade_envs.text import TextEnv
from spade_envs.text_face import ActionFormat
from spade_envs.web.play.game import About, Game, Move, Start, Turn
from spade_envs.web.play.seen import Seen, see


class Table:
    """One environment in one worker; not for use by two threads at once.

    Args:
        source: the design.
        level: its difficulty, None where it has none.
        pool: where its worker comes from.
        face: how moves are marked, as for :class:`~spade_envs.TextEnv`; games know ``"raw"`` ones only.

    Attributes:
        about: what is played.

    Raises:
        UsageError: the source is refused, or has no such level.
        WorkerFault: its constructor fails, or it is quarantined.
    """

    def __init__(self, source: str, level: int | None, pool: WorkerPool, face: ActionFormat = "raw") -> None:
        arguments: dict[str, Any] = {} if level is None else {"difficulty": level}
        self._native = IsolatedEnv(source, pool=pool, on_fault="raise", **arguments)
        header = self._native.header
        self._native.spec = EnvSpec(str(header.id), max_episode_steps=header.max_episode_steps)
        self._env = TextEnv(self._native, face)
        self._source, self._pool = source, pool
        self.about = About(
            header,
            self._native.rules,
            self._env.expected(),
            self._native.action_space,
            self._native.observation_space,
            self._native.action_names,
            tuple(self._native.tools),
            file_sha256(source),
        )

    def begin(self, start: Start) -> Game:
        """Begin an episode. Raises WorkerFault."""
        text, _ = self._env.reset(seed=start.seed)
        self._number, self._shown = 0, self._seen(text)
        return Game(start, self.about, (Turn(0, None, text),), self._shown)

    def act(self, move: Move) -> tuple[Turn, Seen]:
        """Make a move and return what came of it. Raises WorkerFault."""
        text, reward, terminated, truncated, info = self._env.step(move.said)
        self._number += 1
        readable = not info["invalid_action"]
        if readable:
            self._shown = self._seen(text)
        success = bool(info.get("is_success"))
        turn = Turn(self._number, move, text, reward, readable, terminated, truncated, success)
        if turn.over:
            self._pool.quarantine.absolve(self._source)
        return turn, self._shown

    def again(self, start: Start, moves: Sequence[Move]) -> Iterator[Game]:
        """Yield an episode as it is played again, one game for each turn; moves after its end are left out.

        Raises WorkerFault.
        """
        now = self.begin(start)
        yield now
        for move in moves:
            if now.over:
                return
            now = now.after(*self.act(move))
            yield now

    def hint(self) -> str:
        """Return help for the present state. Raises WorkerFault."""
        return self._env.hint()

    def expert(self) -> Move:
        """Return what the expert would write in the present state. Raises WorkerFault."""
        return Move(self._env.expert_text(), "expert")

    def close(self) -> None:
        """Give the worker back. Safe to call again."""
        self._env.close()

    def _seen(self, text: str) -> Seen:
        return see(text, self._native.observation, self.about.observation_space)
