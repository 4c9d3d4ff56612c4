"""From what is on record of a play to its conversation: the environment is played again with what the agent said.

A run keeps the agent's words only; what it read follows from them, since the same seed and the same actions give the
same episode. A play that comes to another end than the record says is left out and counted.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import gymnasium

from spade_envs.errors import SpadeError, WorkerFault
from spade_train.playing.chat import Chat, Message
from spade_train.playing.play import Make
from spade_train.playing.prompts import TextEnvironment, agent_messages, worked_examples


@dataclass(frozen=True, slots=True)
class Played:
    """An unhinted play that counts, as it is on record.

    Attributes:
        replies: what the agent said, turn by turn, without the end of its turns.
    """

    round: int
    env_id: str
    level: int
    seed: int
    success: bool
    return_: float
    replies: tuple[str, ...]

    @property
    def start(self) -> tuple[str, int, int]:
        """Return what tells one beginning from another."""
        return self.env_id, self.level, self.seed


@dataclass(frozen=True, slots=True)
class Transcript:
    """A play as a conversation.

    Attributes:
        prompt: up to the first reply: rules, worked examples, the first observation.
        completion: replies and what the environment answered, from the first reply to the last.
        tools: function schemas that the prompt offers besides.
    """

    played: Played
    prompt: tuple[Message, ...]
    completion: tuple[Message, ...]
    tools: tuple[dict[str, Any], ...] = ()


@dataclass
class Replayer:
    """Plays recorded plays again, environment by environment.

    Attributes:
        make: opens an environment's text face.
        chat: of the model that has played.
        left_out: why -> how many plays could not be made again.
    """

    make: Make
    chat: Chat
    left_out: dict[str, int] = field(default_factory=dict)

    def transcripts(self, plays: Iterable[Played]) -> list[Transcript]:
        """Return the conversations of all plays that come out as they did."""
        by_kind: dict[tuple[str, int], list[Played]] = {}
        for one in plays:
            by_kind.setdefault((one.env_id, one.level), []).append(one)
        return [found for kind, of_kind in by_kind.items() for found in self._of_kind(*kind, of_kind)]

    def _of_kind(self, env_id: str, level: int, plays: Sequence[Played]) -> list[Transcript]:
        try:
            env = self.make(env_id, **({} if level == 1 else {"difficulty": level}))
        except (SpadeError, gymnasium.error.Error):
            self._leave_out("the environment cannot be made any more", len(plays))
            return []
        with contextlib.closing(env):
            opening = worked_examples(env)
            return [found for one in plays if (found := self._again(env, opening, one)) is not None]

    def _again(self, env: TextEnvironment, opening: Any, played: Played) -> Transcript | None:
        try:
            seen, _ = env.reset(seed=played.seed)
            prompt = agent_messages(env, opening, seen, None)
            completion, success, return_ = self._conversation(env, played)
        except WorkerFault:
            self._leave_out("the environment failed")
            return None
        if success != played.success or abs(return_ - played.return_) > 1e-9:
            self._leave_out("it came to another end")
            return None
        return Transcript(played, tuple(prompt), tuple(completion), tuple(env.tools))

    def _conversation(self, env: TextEnvironment, played: Played) -> tuple[list[Message], bool, float]:
        said: list[Message] = []
        success, return_ = False, 0.0
        for turn, reply in enumerate(played.replies, 1):
            seen, reward, terminated, truncated, info = env.step(self.chat.action_of(reply))
            return_ += reward
            success = bool(info.get("is_success", False))
            said.append({"role": "assistant", "content": reply})
            if terminated or truncated or turn == len(played.replies):
                break
            by_tool = bool(env.tools) and not info.get("invalid_action", False) and self.chat.has_tool_role
            said.append({"role": "tool" if by_tool else "user", "content": self.chat.plain(seen)})
        return said, success, return_

    def _leave_out(self, why: str, count: int = 1) -> None:
        self.left_out[why] = self.left_out.get(why, 0) + count


def read_plays(entries: Iterable[Mapping[str, Any]]) -> list[Played]:
    """Return the plays of ``plays.jsonl`` that can be learned from: unhinted, ended by no fault, with what was said."""
    return [
        Played(
            int(one["round"]),
            str(one["env_id"]),
            int(one.get("level", 1)),
            int(one["seed"]),
            bool(one["success"]),
            float(one["return"]),
            tuple(map(str, one["replies"])),
        )
        for one in entries
        if not one.get("hinted") and one.get("end") != "fault" and one.get("replies")
    ]
