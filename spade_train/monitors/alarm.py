"""What a monitor says, what follows from it, and from which value on it speaks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Consequence = Literal["capped", "quarantined", "reported"]
"""The design earns at most 0; the environment is played no more, and its design earns at most 0; nothing."""


@dataclass(frozen=True)
class Alarm:
    """One finding; as a dictionary it is the line of a record.

    Attributes:
        env_id: the environment that it is about; None where it is about the run.
        value: what was measured; the alarm was raised since it lies beyond ``threshold``.
        what: a sentence for people.
    """

    monitor: str
    env_id: str | None
    round: int
    value: float
    threshold: float
    what: str
    consequence: Consequence


@dataclass(frozen=True)
class Limits:
    """From where on the monitors speak.

    Attributes:
        chance: an honest round may look so with at most this probability. A run of 100 rounds asks some ten
            thousand times, and honest play lies far from the edge that this is reckoned at.
        alike: how alike plays of one seed are taken to be (intraclass correlation), where plays of different
            seeds are compared.
        gap: how far rates must differ besides, so that many plays do not make a trifle an alarm.
        share: hinted play must have lost less than this share of what unhinted play has, in log-odds.
        unread_gap: the same for the share of plays that could not be read.
        blind: the contract's limit for what the hint alone may solve: a share of the plays.
        sure: the normal quantile of ``chance``, for intervals that must be beyond a limit.
        word_plays, word_seeds: unhinted plays and seeds without one success before a word of the hint is
            taken for a password.
        pure: the least share of seeds of the rarer kind, always or never solved.
        entropy, entropy_rounds: nats, and for how many rounds running. Healthy runs of the small model stayed
            between 0.1 and 0.3.
        flat_blocks: how many of the agent's blocks must be flat in a row.
        negative_designs: how many regrets must be known before their mean is judged.
        one_idea: the share of the last rounds' designs that one idea may surely have.
    """

    chance: float = 1e-4
    alike: float = 0.3
    gap: float = 0.1
    share: float = 0.25
    unread_gap: float = 0.3
    blind: float = 0.25
    sure: float = 3.719016
    word_plays: int = 12
    word_seeds: int = 2
    pure: float = 0.2
    entropy: float = 0.05
    entropy_rounds: int = 3
    flat_blocks: int = 32
    negative_designs: int = 12
    one_idea: float = 0.5


def reward_ceiling(alarms: Iterable[Alarm], env_id: str) -> float | None:
    """Return the most that the design may earn: 0 where an alarm about it or the run caps it, else None."""
    mine = [one for one in alarms if one.env_id in (env_id, None)]
    return 0.0 if any(one.consequence != "reported" for one in mine) else None


def is_quarantined(alarms: Iterable[Alarm], env_id: str) -> bool:
    """Return whether an alarm takes the environment out of play."""
    return any(one.env_id == env_id and one.consequence == "quarantined" for one in alarms)
