"""Advantages of both roles, each in its own unit, as GRPO computes them (DeepSeekMath, arXiv 2402.03300).

TRL scales all rows of a batch alike; a designer's rewards and an agent's need not have the same spread. So each
role is centred and scaled here. TRL takes the result as rewards with ``scale_rewards="none"``: it centres each
block once more, which changes nothing, for the advantages of a block sum to nought.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Literal

Scale = Literal["group", "batch", "none"]

EPSILON = 1e-4
"""What TRL adds to a deviation before it divides."""

FLAT = 1e-8
"""Rewards that lie no farther apart than this are the same (TRL's tolerance for a deviation of nought)."""


@dataclass(frozen=True)
class RewardBlock:
    """The rows that share a baseline.

    Attributes:
        role: ``"designer"`` or ``"agent"``.
        rewards: one a row; None leaves the row out.
        weight: the environment's weight; it multiplies the advantages.
    """

    role: str
    rewards: tuple[float | None, ...]
    weight: float = 1.0

    @property
    def known(self) -> list[float]:
        """The rewards of the rows that count."""
        return [reward for reward in self.rewards if reward is not None]

    @property
    def flat(self) -> bool:
        """Whether the rows that count do not differ, so that GRPO learns nothing from them."""
        return not self.known or max(self.known) - min(self.known) <= FLAT


@dataclass(frozen=True)
class RoleSettings:
    """How a role's advantages are made.

    Attributes:
        scale: divide by the deviation of the block, of all the role's rows in the batch, or not at all.
        rate: multiplies them: the role's learning rate against the optimiser's.
    """

    scale: Scale = "group"
    rate: float = 1.0


@dataclass(frozen=True)
class Advantages:
    """The result.

    Attributes:
        blocks: each block's advantages, in the order given; 0 for a row that was left out.
        counted: role -> how many blocks.
        flat: role -> how many of them have no variance and add no gradient.
    """

    blocks: tuple[tuple[float, ...], ...]
    counted: dict[str, int]
    flat: dict[str, int]

    @property
    def rows(self) -> list[float]:
        """All advantages in the batch's order."""
        return [value for block in self.blocks for value in block]


def advantages(blocks: Sequence[RewardBlock], settings: Mapping[str, RoleSettings]) -> Advantages:
    """Return (reward - block's mean) / (deviation + 1e-4) x rate x weight for every row.

    Args:
        blocks: all of one batch.
        settings: role -> its settings; a role that is missing has the defaults.

    Deviations are sample deviations (n - 1), over the rows that count.
    """
    whole = {role: _deviation([r for b in blocks if b.role == role for r in b.known]) for role in settings}
    default = RoleSettings()
    values = tuple(
        _of_block(block, settings.get(block.role, default), whole.get(block.role, 0.0)) for block in blocks
    )
    counted = Counter(block.role for block in blocks)
    flat = Counter(block.role for block in blocks if block.flat)
    return Advantages(values, dict(counted), {role: flat[role] for role in counted})


def _of_block(block: RewardBlock, settings: RoleSettings, whole: float) -> tuple[float, ...]:
    if block.flat:
        return (0.0,) * len(block.rewards)
    mean = fmean(block.known)
    divisor = {"group": _deviation(block.known) + EPSILON, "batch": whole + EPSILON, "none": 1.0}
    factor = settings.rate * block.weight / divisor[settings.scale]
    return tuple(0.0 if reward is None else (reward - mean) * factor for reward in block.rewards)


def _deviation(rewards: Sequence[float]) -> float:
    return stdev(rewards) if len(rewards) > 1 else 0.0
