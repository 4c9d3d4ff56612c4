"""Where an environment stands after what was measured of it: rules as data, verdicts as pure functions.

``admitted`` -> ``active`` -> ``mastered`` / ``too_hard`` / ``retired``; ``quarantined`` for faults. High regret keeps
an environment active: there is something left to learn in it. Mastered and too hard environments come back when a
later measurement says otherwise; what was retired or quarantined comes back by hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spade_envs.errors import UsageError

if TYPE_CHECKING:
    from spade_envs.records import Listed, Measured
    from spade_envs.records.values import Status


@dataclass(frozen=True, slots=True)
class Rules:
    """When an environment changes its status.

    Attributes:
        mastered_above: success without the hint, in each of the last ``mastered_rounds`` rounds that played it.
        relapsed_below: success without the hint, in one round, that makes a mastered environment active again.
        too_hard_below: success with the hint and without, in each of the last ``too_hard_rounds`` rounds.
        high_regret: where the lower end of regret's newest interval lies above it, an environment stays active.
        faulty_share: share of a round's plays that ended in a fault of the environment; from here on it is quarantined.
        pool_size: how many may be active; None for any number.

    Raises:
        UsageError: a rate is no rate, a number of rounds is not positive, or two rules contradict each other.
    """

    mastered_above: float = 0.9
    mastered_rounds: int = 3
    relapsed_below: float = 0.7
    too_hard_below: float = 0.1
    too_hard_rounds: int = 3
    high_regret: float = 0.2
    faulty_share: float = 0.5
    pool_size: int | None = None

    def __post_init__(self) -> None:
        for name in ("mastered_above", "relapsed_below", "too_hard_below", "high_regret", "faulty_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise UsageError(f"{name} is {getattr(self, name)}; it is a rate, from 0 to 1")
        for name in ("mastered_rounds", "too_hard_rounds", "pool_size"):
            if (value := getattr(self, name)) is not None and value < 1:
                raise UsageError(f"{name} is {value}; it must be at least 1")
        if not self.too_hard_below < self.relapsed_below <= self.mastered_above:
            raise UsageError(
                f"too_hard_below {self.too_hard_below}, relapsed_below {self.relapsed_below} and mastered_above "
                f"{self.mastered_above} must rise in this order"
            )

    @property
    def rounds(self) -> int:
        """How many measurements a verdict looks back on, at most."""
        return max(self.mastered_rounds, self.too_hard_rounds)


def verdict(status: Status, measured: Sequence[Measured], rules: Rules) -> tuple[Status, str] | None:
    """Return where an environment stands now and why; None where it stays where it is.

    Args:
        status: where it stands.
        measured: its measures, the oldest first, at least the last ``rules.rounds``; the newest is of this round.
        rules: when it changes.
    """
    if not measured or status == "retired":
        return None
    new = _judged(status, measured, rules)
    return new if new and new[0] != status else None


def crowded_out(active: Sequence[Listed], rules: Rules) -> list[tuple[str, str]]:
    """Return the ids that leave a pool that is too large, each with the reason.

    The least difficult and least diverse go first, those with high regret last.
    """
    over = len(active) - rules.pool_size if rules.pool_size else 0
    if over <= 0:
        return []
    worth = {
        one.id: (_promises(one.regret_low, rules), (one.difficulty or 0.0) + (one.diversity or 0.0))
        for one in active
    }
    leaving = sorted(active, key=lambda one: (worth[one.id], one.id))[:over]
    return [
        (
            one.id,
            f"the pool holds {rules.pool_size}: "
            f"difficulty {one.difficulty or 0:.2f}, diversity {one.diversity or 0:.2f}",
        )
        for one in leaving
    ]


def _judged(status: Status, measured: Sequence[Measured], rules: Rules) -> tuple[Status, str] | None:
    newest = measured[-1]
    if (reason := _faulty(newest, rules)) is not None:
        return "quarantined", reason
    if status == "admitted":
        return _teaches(newest, rules)
    promises = _promises(newest.regret_low, rules)
    if status == "active" and not promises:
        return _mastered(measured, rules) or _too_hard(measured, rules)
    if status == "mastered" and newest.success is not None and newest.success < rules.relapsed_below:
        return "active", f"success fell to {newest.success:.2f}"
    if status == "too_hard" and promises:
        return "active", f"regret is {newest.regret_low:.2f} at least"
    if status == "too_hard" and _best(newest) >= rules.too_hard_below:
        return "active", f"success rose to {_best(newest):.2f}"
    return None


def _teaches(newest: Measured, rules: Rules) -> tuple[Status, str] | None:
    """What was measured weighs more than the scores that kept an environment out of the pool."""
    if newest.success is None or not rules.too_hard_below <= newest.success <= rules.mastered_above:
        return None
    return "active", f"success without the hint was {newest.success:.2f}: there is something to learn"


def _faulty(newest: Measured, rules: Rules) -> str | None:
    played = newest.plays + newest.hinted_plays + newest.faults
    if newest.faults < 2 or newest.faults < rules.faulty_share * played:
        return None
    return f"{newest.faults} of {played} plays of a round ended in a fault of the environment"


def _mastered(measured: Sequence[Measured], rules: Rules) -> tuple[Status, str] | None:
    last = [one.success for one in measured[-rules.mastered_rounds :]]
    if len(last) < rules.mastered_rounds or any(
        rate is None or rate <= rules.mastered_above for rate in last
    ):
        return None
    return (
        "mastered",
        f"success without the hint was {', '.join(map(_said, last))} in the last {len(last)} rounds",
    )


def _too_hard(measured: Sequence[Measured], rules: Rules) -> tuple[Status, str] | None:
    last = measured[-rules.too_hard_rounds :]
    hard = [one.hinted_success is not None and _best(one) < rules.too_hard_below for one in last]
    if len(last) < rules.too_hard_rounds or not all(hard):
        return None
    said = ", ".join(_said(one.hinted_success) for one in last)
    return "too_hard", f"success with the hint was {said} in the last {len(last)} rounds"


def _best(one: Measured) -> float:
    """The higher of both rates; one that is not known counts as nought."""
    return max(one.success or 0.0, one.hinted_success or 0.0)


def _promises(regret_low: float | None, rules: Rules) -> bool:
    return regret_low is not None and regret_low > rules.high_regret


def _said(rate: float | None) -> str:
    return "unknown" if rate is None else f"{rate:.2f}"
