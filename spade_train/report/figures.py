"""The figures of a run, each with its interval and what it is of; and the tables that a report shows. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import reduce
from statistics import fmean
from typing import Any

from spade_train.report.series import last_of_each, rate, regret, rise, success
from spade_train.report.tables import Table
from spade_train.report.values import Designs, RoundFacts, RunFacts
from spade_train.rewards.uncertainty import Estimate, Tally, total

LAST = 5
"""Rounds that the first and the last figures are of."""

MOST = 100
"""The most rows of a table: of rounds the newest, of environments those that were played most."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure.

    Attributes:
        value: None where it is not known.
        of: what it was measured on.
        sign: whether it is a difference.
    """

    name: str
    value: Estimate | None
    of: str
    sign: bool = False

    @property
    def text(self) -> str:
        """The figure as a table shows it."""
        return "-" if self.value is None else f"{self.value.value:{'+' if self.sign else ''}.3f}"

    @property
    def interval(self) -> str:
        """Its interval; a dash where it has none."""
        one = self.value
        if one is None or one.low == one.high:
            return "-"
        plus = "+" if self.sign else ""
        return f"[{one.low:{plus}.3f}, {one.high:{plus}.3f}]"

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {"name": self.name, "value": asdict(self.value) if self.value else None, "of": self.of}


def final(run: RunFacts) -> tuple[Figure, ...]:
    """Return the figures that a run comes to."""
    done = run.done
    designed = [one for one in done if regret(one) is not None]
    span = max(1, min(LAST, len(done) // 2))  # no round is both first and last
    first, last = done[:span], done[-span:]
    made = reduce(Designs.plus, (one.designs for one in run.rounds), Designs())
    risen = rise(done)
    recovered = total(one.recovered for one in run.rounds)
    ideas = [one.ideas for one in done if one.ideas is not None][-LAST:]
    return (
        Figure("success, first rounds", _mean(first, success), _span(first)),
        Figure("success, last rounds", _mean(last, success), _span(last)),
        Figure(
            "success with the hint, last rounds", _mean(last, lambda r: success(r, hinted=True)), _span(last)
        ),
        Figure(
            "change in what was played again",
            risen[0] if risen else None,
            f"{risen[1] if risen else 0} environments",
            True,
        ),
        Figure(
            "regret of new designs",
            _mean(designed, regret),
            f"{len(designed)} rounds with admitted designs",
            True,
        ),
        Figure(
            "designs that compile and run",
            _share(made.ran, made.asked),
            f"{made.asked} designs",
        ),
        Figure("designs that are admitted", _share(made.admitted, made.asked), f"{made.asked} designs"),
        Figure("effective ideas of a round", _plain(ideas), f"the last {len(ideas)} rounds that designed"),
        Figure(
            "turns that can be read, after one that could not",
            rate(recovered) if recovered.plays else None,
            f"{recovered.plays} turns",
        ),
        *_evaluated(run),
    )


def final_table(run: RunFacts) -> Table:
    """Return the figures as a table."""
    rows = [(one.name, one.text, one.interval, one.of) for one in final(run)]
    return Table("Figures", ("figure", "value", "95 % interval", "of"), tuple(rows))


def rounds_table(run: RunFacts) -> Table:
    """Return one row a round."""
    columns = (
        "round",
        "designs",
        "compiled",
        "ran",
        "admitted",
        "regret",
        "success",
        "hinted",
        "reward",
        "loss",
        "s",
    )
    rows = [
        (
            str(one.number + 1),
            *(str(count) for name, count in one.designs.stages if name != "source found"),
            _number(one.regret, "+.2f"),
            _number(_value(success(one)), ".2f"),
            _number(_value(success(one, hinted=True)), ".2f"),
            _number(one.agent_reward, ".2f"),
            _number(one.loss, ".3f"),
            f"{sum(one.seconds.values()):.0f}",
        )
        for one in run.rounds[-MOST:]
    ]
    return Table("Rounds", columns, tuple(rows), 0)


def environments_table(run: RunFacts) -> Table:
    """Return one row for each environment at each level: when it came, how it fared first and last."""
    histories: dict[tuple[str, int], list[RoundFacts]] = {}
    plays: dict[tuple[str, int], list[Tally]] = {}
    for one in run.rounds:
        for each in one.played:
            histories.setdefault((each.env_id, each.level), []).append(one)
            plays.setdefault((each.env_id, each.level), []).append(each.plain)
    most = sorted(plays, key=lambda key: (-total(plays[key]).plays, key))[:MOST]
    born = run.born
    rows = [
        (
            env_id,
            str(level),
            "given" if born.get(env_id, -1) < 0 else str(born[env_id] + 1),
            str(len(plays[env_id, level])),
            str(histories[env_id, level][-1].number + 1),
            *(f"{one.wins}/{one.plays}" for one in (plays[env_id, level][0], plays[env_id, level][-1])),
            f"{total(plays[env_id, level]).rate:.2f}",
        )
        for env_id, level in most
    ]
    columns = ("environment", "level", "came in", "rounds", "last", "first won", "last won", "success")
    return Table("Environments", columns, tuple(rows))


def _evaluated(run: RunFacts) -> list[Figure]:
    found = []
    for suite, one in last_of_each(run).items():
        when = "asked for by hand" if one.rounds is None else f"after {one.rounds} rounds"
        found.append(Figure(f"{suite}: success", one.score, when))
        if one.gain is not None:
            found.append(Figure(f"{suite}: gain", one.gain, when, sign=True))
        if one.looked_at:
            lost = _share(len(one.forgotten), one.looked_at)
            found.append(Figure(f"{suite}: forgotten", lost, f"{one.looked_at} environments"))
    return found


def _mean(rounds: Sequence[RoundFacts], figure: Callable[[RoundFacts], Estimate | None]) -> Estimate | None:
    """Return the mean over rounds; their errors are taken as independent."""
    known = [value for one in rounds if (value := figure(one)) is not None]
    if not known:
        return None
    mean = fmean(one.value for one in known)
    low, high = (
        sum((getattr(one, end) - one.value) ** 2 for one in known) ** 0.5 / len(known)
        for end in ("low", "high")
    )
    return Estimate(mean, mean - low, mean + high)


def _plain(values: Sequence[float]) -> Estimate | None:
    return Estimate(*[fmean(values)] * 3) if values else None


def _share(wins: int, of: int) -> Estimate | None:
    return rate(Tally(min(wins, of), of)) if of else None


def _span(rounds: Sequence[RoundFacts]) -> str:
    return f"rounds {rounds[0].number + 1} to {rounds[-1].number + 1}" if rounds else "no rounds"


def _value(one: Estimate | None) -> float | None:
    return None if one is None else one.value


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)
