"""What a designer is asked, and what it must offer to the trainer."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

from spade_envs import Rejection
from spade_train.corpus import Document
from spade_train.memory import PoolStatistics, SkillProfile

Message = dict[str, str]
"""One message of a chat: ``{"role": "system" | "user" | "assistant", "content": ...}``."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something stands in a prompt; on record for `spade-train saw`.

    Attributes:
        piece: the kind of thing, such as ``"document"`` or ``"good before"``.
        what: which one: an id, a place, a skill.
        why: what chose it.
    """

    piece: str
    what: str
    why: str


@dataclass(frozen=True, slots=True)
class DesignContext:
    """Everything that one prompt is made of: the designs of one block share it.

    Attributes:
        round: the self-play round, which the design's header names.
        seed: the run's seed; with the round it chooses the worked examples.
        digest: what the memory tells of earlier designs, a line each (:meth:`Memory.recall`).
        target: the skill that the design is to train.
        parents: ids of environments to derive from.
        profile: how the agent fares by skill, the weakest first.
        pool: what may be played now; None where it is not told.
        lessons: why earlier designs were refused, each reason once.
        reasons: why each of these was chosen.
        plan: what the designer answered to the way's first question, where the way has one.
        number: which design of the round this is, where each has a prompt of its own; worked examples stay the same.
        draw: how often another reply was asked for in the place of a refused one: what is drawn by lot is another then.
    """

    round: int
    seed: int
    document: Document | None = None
    digest: str = ""
    target: str | None = None
    parents: tuple[str, ...] = ()
    profile: tuple[SkillProfile, ...] = ()
    pool: PoolStatistics | None = None
    lessons: tuple[str, ...] = ()
    reasons: tuple[Reason, ...] = ()
    plan: str = ""
    number: int = 0
    draw: int = 0

    def rng(self) -> Random:
        """Return a fresh generator, the same for equal run seed and round."""
        return Random(f"{self.seed}/{self.round}")

    def own_rng(self, about: str) -> Random:
        """Return a fresh generator for one matter of one design."""
        return Random(f"{self.seed}/{self.round}/{self.number}/{about}{self.draw or ''}")


@dataclass(frozen=True, slots=True)
class Draft:
    """The source that a reply stands for.

    Attributes:
        source: the whole file.
        mends: names of what was mended in it (:mod:`spade_train.designer.mends`).
    """

    source: str
    mends: tuple[str, ...] = ()


class Designer(Protocol):
    """A way of designing. Each method is a pure function of its arguments, but :meth:`prepare` looks at registries."""

    @property
    def way(self) -> str:
        """Return the way's name, for records."""

    @property
    def brief(self) -> bool:
        """Return whether prompts are made for a small model."""

    def prepare(self, context: DesignContext) -> DesignContext:
        """Return the context with what the way needs besides, such as the parents of an edit."""

    def preface(self, context: DesignContext) -> list[Message] | None:
        """Return the chat of a first question, whose answer becomes ``context.plan``; None where there is none."""

    def prompt(self, context: DesignContext) -> list[Message]:
        """Return the chat that asks for one design. It ends with the user's message."""

    def schema(self) -> dict[str, Any] | None:
        """Return the JSON schema that sampling is to be constrained by, or None for free text."""

    def read(self, reply: str, context: DesignContext) -> Draft | Rejection:
        """Return the complete source that the reply stands for, or why there is none."""

    def quoted(self, context: DesignContext) -> tuple[str, ...]:
        """Return the sources that the prompt shows and no registry holds: a copy of one is no design."""
