"""What the monitors remember: counts of the last rounds, bounded, and JSON there and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypeVar

from spade_train.monitors.seen import EnvironmentSeen, RoundSeen
from spade_train.rewards.uncertainty import NONE, Tally

ROUNDS = 16
"""Rounds that are remembered, of an environment and of the run."""

SEEDS = 40
"""Seeds that are remembered of an environment."""

ENVIRONMENTS = 256
"""Environments that are remembered; the one that was not played for longest goes first, none of the last round."""

_T = TypeVar("_T")


@dataclass(frozen=True)
class Past:
    """What is remembered of one environment; oldest first, the latest round included.

    Attributes:
        rounds: in which it was played; once for each time.
        plain, hinted, unread, hinted_unread, echoed: one tally for each.
        seeds: the unhinted tallies of single seeds.
    """

    rounds: tuple[int, ...] = ()
    plain: tuple[Tally, ...] = ()
    hinted: tuple[Tally, ...] = ()
    unread: tuple[Tally, ...] = ()
    hinted_unread: tuple[Tally, ...] = ()
    echoed: tuple[Tally, ...] = ()
    seeds: tuple[Tally, ...] = ()

    def after(self, number: int, seen: EnvironmentSeen) -> Past:
        """Return the past with one more round."""
        return Past(
            _last(self.rounds, number),
            _last(self.plain, seen.unhinted_total),
            _last(self.hinted, seen.hinted_total),
            _last(self.unread, seen.plain_unread),
            _last(self.hinted_unread, seen.hinted_unread),
            _last(self.echoed, seen.echoed or NONE),
            (*self.seeds, *seen.plain.values())[-SEEDS:],
        )


@dataclass(frozen=True)
class History:
    """What is remembered of a run; oldest first, the latest round included.

    Attributes:
        environments: id -> its past; the one that was played last stands last.
        regrets: the means of each round's environments.
        ideas: keys of each round's designs; rounds without designs are left out.
    """

    environments: Mapping[str, Past] = field(default_factory=dict)
    entropies: tuple[float, ...] = ()
    agent_blocks: tuple[Tally, ...] = ()
    regrets: tuple[tuple[float, ...], ...] = ()
    ideas: tuple[tuple[str, ...], ...] = ()

    def after(self, seen: RoundSeen) -> History:
        """Return the history with one more round."""
        new: dict[str, Past] = {}
        for one in seen.environments:  # two blocks may play the same one
            past = new.get(one.env_id, self.environments.get(one.env_id, Past()))
            new[one.env_id] = past.after(seen.number, one)
        old = {name: past for name, past in self.environments.items() if name not in new}
        kept = list((old | new).items())[-max(ENVIRONMENTS, len(new)) :]
        designed = tuple(one.idea for one in seen.designs)
        return replace(
            self,
            environments=dict(kept),
            entropies=self.entropies if seen.entropy is None else _last(self.entropies, seen.entropy),
            agent_blocks=_last(self.agent_blocks, seen.agent_blocks),
            regrets=_last(self.regrets, tuple(one.regret.mean for one in seen.environments if one.regret)),
            ideas=_last(self.ideas, designed) if designed else self.ideas,
        )

    def as_json(self) -> dict[str, Any]:
        """Return plain lists and dictionaries, as a checkpoint keeps them."""
        return asdict(self)

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> History:
        """Return the history that :meth:`as_json` gave, before or after JSON."""
        pasts = {
            name: Past(
                tuple(past["rounds"]),
                **{key: _tallies(value) for key, value in past.items() if key != "rounds"},
            )
            for name, past in kept["environments"].items()
        }
        return cls(
            pasts,
            tuple(kept["entropies"]),
            _tallies(kept["agent_blocks"]),
            tuple(tuple(means) for means in kept["regrets"]),
            tuple(tuple(ideas) for ideas in kept.get("ideas", ())),  # earlier versions kept none
        )


def _last(kept: tuple[_T, ...], new: _T) -> tuple[_T, ...]:
    return (*kept, new)[-ROUNDS:]


def _tallies(pairs: Any) -> tuple[Tally, ...]:
    return tuple(Tally(*pair) for pair in pairs)
