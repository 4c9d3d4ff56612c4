"""What charts and checks are made of: means with intervals, the newest rounds, how play has changed. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import fmean, stdev

from spade_train.report.values import Designs, Evaluated, Played, RoundFacts, RunFacts
from spade_train.rewards.uncertainty import Estimate, Tally, student, total, wilson

ALIKE = 3.0
"""By how much the variance of a rate is greater than that of independent plays: eight plays of one seed, alike by an
intraclass correlation of 0.3, which the monitors take, too (1 + 7 x 0.3)."""

MASTERED = 0.9
"""What begins so can hardly rise."""


def rate(tally: Tally) -> Estimate:
    """Return a share with its 95 % interval (Wilson)."""
    return Estimate(tally.rate, *wilson(*tally))


def success(one: RoundFacts, *, hinted: bool = False) -> Estimate | None:
    """Return a round's mean success over its environments; None where nothing was played.

    The interval is over environments (Student's t), which differ more than plays of one do. Of one or two it is that
    of their plays; of equal ones as wide as so many leave open.
    """
    tallies = [each.hinted if hinted else each.plain for each in one.played]
    rates = [tally.rate for tally in tallies if tally.plays]
    if not rates:
        return None
    mean = fmean(rates)
    if len(rates) < 3:
        low, high = wilson(*total(tallies))
        return Estimate(mean, min(mean, low), max(mean, high))
    if len(set(rates)) == 1:
        room = wilson(0, len(rates))[1]
    else:
        room = student(len(rates) - 1) * stdev(rates) / math.sqrt(len(rates))
    return Estimate(mean, max(0.0, mean - room), min(1.0, mean + room))


def regret(one: RoundFacts) -> Estimate | None:
    """Return the regret of a round's admitted designs; the interval is its value alone where no error is known."""
    if one.regret is None:
        return None
    room = 1.96 * (one.regret_error or 0.0)
    return Estimate(one.regret, one.regret - room, one.regret + room)


def newest_designs(rounds: Sequence[RoundFacts], enough: int) -> Designs:
    """Return the designs of the newest rounds that hold at least so many, or of all."""
    found = Designs()
    for one in reversed(rounds):
        if found.asked >= enough:
            break
        found = found.plus(one.designs)
    return found


def newest_played(rounds: Sequence[RoundFacts], enough: int, plays: int) -> list[Played]:
    """Return environments as the newest rounds played them, at least so many, or all.

    Args:
        plays: unhinted ones that an environment must have had in a round.
    """
    found: list[Played] = []
    for one in reversed(rounds):
        if len(found) >= enough:
            break
        found += [each for each in one.played if each.plain.plays >= plays]
    return found


def hint_gain(played: Sequence[Played]) -> Estimate | None:
    """Return by how much the hint raises success, over environments; None where it was nowhere measured.

    The interval is over environments (Student's t); of equal ones as wide as so many leave open.
    """
    gains = [one.hinted.rate - one.plain.rate for one in played if one.plain.plays and one.hinted.plays]
    if len(gains) < 2:
        return None
    mean = fmean(gains)
    if len(set(gains)) == 1:
        room = wilson(0, len(gains))[1]
    else:
        room = student(len(gains) - 1) * stdev(gains) / math.sqrt(len(gains))
    return Estimate(mean, max(-1.0, mean - room), min(1.0, mean + room))


def newest_signal(rounds: Sequence[RoundFacts], enough: int) -> Tally:
    """Return the agent's blocks of the newest rounds, and how many of them have rewards that differ."""
    found = Tally(0, 0)
    for one in reversed(rounds):
        if found.plays >= enough:
            break
        found = total((found, one.signal))
    return found


def rise(rounds: Iterable[RoundFacts]) -> tuple[Estimate, int] | None:
    """Return by how much success has risen in what was played again, and how many environments that is.

    Each environment's plays at one level are halved by rounds, later against earlier, and count by how many there
    are; what was mastered from the beginning is left out. The interval is of these environments (normal,
    :data:`ALIKE`). None of nothing.
    """
    histories: dict[tuple[str, int], list[Tally]] = {}
    for one in rounds:
        for each in one.played:
            if each.plain.plays:
                histories.setdefault((each.env_id, each.level), []).append(each.plain)
    pairs = [_halves(tallies) for tallies in histories.values() if len(tallies) > 1]
    pairs = [(before, after) for before, after in pairs if before.rate < MASTERED]
    if not pairs:
        return None
    weights = [before.plays * after.plays / (before.plays + after.plays) for before, after in pairs]
    whole = sum(weights)
    mean = (
        sum(w * (after.rate - before.rate) for w, (before, after) in zip(weights, pairs, strict=True)) / whole
    )
    squares = (
        w * w * (_variance(*one) + _variance(*other)) for w, (one, other) in zip(weights, pairs, strict=True)
    )
    error = math.sqrt(sum(squares)) / whole
    return Estimate(mean, max(-1.0, mean - 1.96 * error), min(1.0, mean + 1.96 * error)), len(pairs)


def _halves(tallies: Sequence[Tally]) -> tuple[Tally, Tally]:
    middle = len(tallies) // 2
    return total(tallies[:middle]), total(tallies[middle:])


def _variance(wins: int, plays: int) -> float:
    """Of a rate; a little is added to both outcomes, so that nought of four is not taken for certain (Agresti)."""
    share = (wins + 1) / (plays + 2)
    return ALIKE * share * (1 - share) / plays


def last_of_each(run: RunFacts) -> dict[str, Evaluated]:
    """Return the newest evaluation of each suite that could be played."""
    return {one.suite: one for one in run.evaluations if one.score is not None}
