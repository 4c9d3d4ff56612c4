"""What the monitors are told of a round: counts, never texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from spade_train.rewards.regret import Regret
from spade_train.rewards.uncertainty import NONE, Tally, total


@dataclass(frozen=True)
class EnvironmentSeen:
    """One environment's plays in one round; only plays that count.

    Attributes:
        plain, hinted: seed -> successes of the plays without and with the hint.
        plain_unread, hinted_unread: plays in which most turns could not be read, of all plays.
        regret: of this round.
        random: successes of uniformly random play, as admission saw it; None where it is not known.
        blind: successes of hinted plays that were shown another seed's observations; None where none was.
        echoed: successful hinted plays with a token that stands only in the hint, of all successful hinted
            plays: see :func:`spade_train.monitors.echoes`; None where it was not looked at.
    """

    env_id: str
    plain: Mapping[int, Tally]
    hinted: Mapping[int, Tally] = field(default_factory=dict)
    plain_unread: Tally = NONE
    hinted_unread: Tally = NONE
    regret: Regret | None = None
    random: Tally | None = None
    blind: Tally | None = None
    echoed: Tally | None = None

    @property
    def unhinted_total(self) -> Tally:
        """All plays without the hint."""
        return total(self.plain.values())

    @property
    def hinted_total(self) -> Tally:
        """All plays with the hint."""
        return total(self.hinted.values())


@dataclass(frozen=True)
class DesignSeen:
    """One design of the round.

    Attributes:
        idea: key of its idea: designs of one idea share it.
        env_id: None where it was refused.
    """

    idea: str
    env_id: str | None = None


@dataclass(frozen=True)
class RoundSeen:
    """One round.

    Attributes:
        number: the round's.
        environments: those that were played: designs of the round and the curriculum's.
        entropy: mean entropy of the agent's tokens, in nats; None where it was not measured.
        agent_blocks: blocks of the agent's rewards that have no variance, of all; by GRPO's own measure.
        designs: those whose idea is known, admitted or not.
    """

    number: int
    environments: tuple[EnvironmentSeen, ...] = ()
    entropy: float | None = None
    agent_blocks: Tally = NONE
    designs: tuple[DesignSeen, ...] = ()
