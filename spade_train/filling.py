"""What may fill blocks beside the new designs, and what their plays taught the curriculum."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from spade_train.curriculum import Candidate, Result
from spade_train.memory import Facts
from spade_train.rounds import Played

OPEN = ("active", "mastered", "too_hard")
"""Statuses in which an environment of the run's own fills blocks: by its worth, as a replay, or now and then."""

SHUT = ("retired", "quarantined")
"""Statuses in which nothing is played any more, whoever made it."""

Known = Callable[[str], Facts | None]


def candidates(
    pool: Sequence[str],
    statuses: Mapping[str, str],
    out: Collection[str],
    facts: Known,
    own: bool = True,
) -> list[Candidate]:
    """Return everything that may fill a block; the pool where there is nothing else.

    Args:
        pool: the run's curriculum as it began: the fixed reference.
        statuses: id -> status of what is on record.
        out: what the watch over the designer has put aside.
        facts: looks up what is known of one; None where no registry holds it any more.
        own: whether the run's own environments count.
    """
    ids = dict.fromkeys([*pool, *(name for name in sorted(statuses) if own and statuses[name] in OPEN)])
    fit = [name for name in ids if name not in out and statuses.get(name) not in SHUT]
    known = {name: facts(name) for name in fit}
    return [
        Candidate(
            name,
            held.skills,
            name in pool,
            statuses.get(name) == "mastered",
            statuses.get(name) == "too_hard",
        )
        for name, held in known.items()
        if held is not None
    ] or [Candidate(name, fixed=True) for name in pool]


def results(played: Iterable[Played], facts: Known, levels: bool) -> list[Result]:
    """Return what a round's plays came to; without ``levels`` every environment has one."""
    return [
        Result(
            one.env_id,
            one.level,
            held.levels if levels and (held := facts(one.env_id)) else 1,
            one.plain,
            one.regret.mean if one.regret else None,
        )
        for one in played
    ]
