"""What every backend is asked and what it answers: chats in, texts or reasons out.

A backend is whatever writes designs: a model in this process, a server, a folder of replies. It promises three
things: as many answers as were asked, in their order; what a server does wrong is a :class:`Failed`, never an
exception; and no key stands in anything that it returns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from spade_envs import with_closed_block

Message = Mapping[str, str]
"""One message of a chat: ``{"role": "system" | "user" | "assistant", "content": ...}``."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One reply that is wanted.

    Attributes:
        messages: the chat; the last one is the user's.
        seed: equal asks of a backend that honours seeds give equal answers.
        max_tokens: the most that the reply may have.
        temperature: 0 takes the likeliest token.
        top_p: the share of the likelihood that is sampled from, in (0, 1].
        schema: a JSON schema of the reply, where the backend can constrain sampling.
    """

    messages: tuple[Message, ...]
    seed: int
    max_tokens: int = 2048
    temperature: float = 0.8
    top_p: float = 0.95
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """One reply.

    Attributes:
        prompt_tokens: of the ask, as the backend counts them.
        completion_tokens: of the reply.
        cut: whether ``max_tokens`` ended it.
        cost: in the currency of the configured price; None without a price.
    """

    text: str
    prompt_tokens: int
    completion_tokens: int
    cut: bool = False
    cost: float | None = None

    @property
    def whole(self) -> str:
        """Return the text; where its writer stopped within a block of code, the block ends with it.

        Small models forget the fence. What ``max_tokens`` has cut off stays open: it may be a draft of more.
        """
        return self.text if self.cut else with_closed_block(self.text)


@dataclass(frozen=True, slots=True)
class Failed:
    """An ask that got no reply.

    Attributes:
        reason: what happened, where, and the mend; never a key.
        retried: how often it was asked again before it was given up.
    """

    reason: str
    retried: int = 0


@dataclass(frozen=True, slots=True)
class Pending(Failed):
    """An ask whose answer may still come: asked again later, it is the same ask and not paid for twice."""


class Backend(Protocol):
    """Whatever writes designs."""

    @property
    def name(self) -> str:
        """Return kind and model, for records; no address with credentials."""

    def answer(self, asks: Sequence[Ask]) -> list[Answer | Failed]:
        """Return as many answers as were asked, in their order. Never raises for what a server does."""
