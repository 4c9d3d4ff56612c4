"""A model's episodes of one beginning next to each other, as values that name no run: without a hint, and with one.

Whoever keeps such episodes makes a :class:`SideBySide` of them and lets ``play/side_by_side.html`` show it: the
template defines the macro ``side_by_side(view)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from spade_envs.contract import EnvId, Finding
from spade_envs.text_face import ActionFormat
from spade_envs.web.play.episodes import address
from spade_envs.web.play.game import Move, Start

Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of tokens of one role and one mask, as text.

    Attributes:
        text: as it was read or written, markup of the chat template included.
        role: whose turn it belongs to.
        sampled: whether the model sampled these tokens: the mask is 1 there.
    """

    text: str
    role: Role
    sampled: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    """One episode.

    Attributes:
        hinted: whether the hint stood in the prompt.
        trained: whether its sampled tokens are trained on; those of hinted plays never are.
        pieces: of the prompt and what followed, in order.
        return_: sum of the rewards.
        success: whether the goal was reached.
        turns: how often the model spoke.
        end: why it ended, in a word.
        advantage: what the gradient of its sampled tokens was multiplied with; None where that is not on record.
        replay: where it is shown step by step, see :func:`replay_address`; empty where it is not.
    """

    hinted: bool
    trained: bool
    pieces: tuple[Piece, ...]
    return_: float
    success: bool
    turns: int
    end: str
    advantage: float | None = None
    replay: str = ""

    @property
    def mark(self) -> Literal["trained", "sampled"]:
        """What its sampled tokens are marked as."""
        return "trained" if self.trained else "sampled"


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Episodes that begin alike.

    Attributes:
        env_id: the version that was played.
        level: its difficulty, from 1.
        seed: of the reset.
        columns: unhinted first.
        round: of the run, counted from 0; None where it is of none.
    """

    env_id: str
    level: int
    seed: int
    columns: tuple[Column, ...]
    round: int | None = None


def replay_address(env_id: str, level: int, seed: int, replies: Sequence[str], face: ActionFormat) -> str:
    """Return where an episode is shown step by step; empty where its replies are too long for an address.

    Args:
        env_id: the version that was played.
        level: its difficulty, 1 for one that has no levels.
        seed: of the reset.
        replies: what the model said, turn by turn.
        face: how it marked its actions.
    """
    version = EnvId.parse(env_id)
    if isinstance(version, Finding):
        return ""
    start = Start(version, None if level == 1 else level, seed)
    found = address("replay", start, [Move(said) for said in replies], face=face)
    return found if "moves=" in found else ""


def joined(pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """Return pieces of which no two neighbours have the same role and mask; empty ones are left out."""
    found: list[Piece] = []
    for one in pieces:
        if found and (found[-1].role, found[-1].sampled) == (one.role, one.sampled):
            found[-1] = Piece(found[-1].text + one.text, one.role, one.sampled)
        elif one.text:
            found.append(one)
    return tuple(found)
