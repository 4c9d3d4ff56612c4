"""When an environment gets harder: a sliding window of its last plays at the present level.

The rule is RLVE's (arXiv 2511.07317): one level up where at least 0.9 of the plays succeed, of 8 at least. There is
no way down: a level that is never won is worth next to nothing already, and the one before was won.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spade_train.rewards.uncertainty import Tally, total


@dataclass(frozen=True, slots=True)
class Ladder:
    """The rule.

    Attributes:
        plays: how many plays a window holds at least before it says anything.
        up: share of successes, in [0, 1], from which on the next level is played.
    """

    plays: int = 8
    up: float = 0.9

    def window(self, rounds: Sequence[Tally]) -> tuple[Tally, ...]:
        """Return the last rounds' plays, as few rounds as hold ``plays`` of them; all where they are fewer."""
        kept: list[Tally] = []
        for one in reversed(rounds):
            if total(kept).plays >= self.plays:
                break
            kept.append(one)
        return tuple(reversed(kept))

    def is_passed(self, rounds: Sequence[Tally]) -> bool:
        """Whether a window shows that its level is mastered."""
        seen = total(rounds)
        return seen.plays >= self.plays and seen.rate >= self.up

    def step(self, rounds: Sequence[Tally], level: int, levels: int) -> int:
        """Return the level to go on with: the next one where there is one and the present one is passed."""
        return min(level + 1, levels) if self.is_passed(rounds) else level
