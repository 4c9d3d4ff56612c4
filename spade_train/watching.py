"""The watch over the designer: what the monitors are told of a round, and what follows from an alarm."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from spade_train.monitors import Alarm, DesignSeen, EnvironmentSeen, History, RoundSeen, is_quarantined, watch
from spade_train.playing.play import Episode
from spade_train.rewards.uncertainty import Tally
from spade_train.rounds import Played

UNREADABLE = 0.5
"""A play in which a smaller share of the turns could be read counts as unread."""


@dataclass(frozen=True)
class Watch:
    """What is remembered from round to round.

    Attributes:
        entropy: of the agent's tokens in the last step, in nats; None before the first.
        quarantined: environments that are played no more.
    """

    history: History = field(default_factory=History)
    entropy: float | None = None
    quarantined: tuple[str, ...] = ()

    def after(
        self,
        number: int,
        seen: Iterable[EnvironmentSeen],
        flat: Tally,
        designs: Iterable[DesignSeen] = (),
    ) -> tuple[Watch, tuple[Alarm, ...]]:
        """Return the watch after a round, and its alarms. ``flat`` counts the agent's blocks without variance."""
        told = RoundSeen(number, tuple(seen), self.entropy, flat, tuple(designs))
        history, alarms = watch(self.history, told)
        new = [one.env_id for one in alarms if one.env_id and is_quarantined(alarms, one.env_id)]
        return replace(
            self, history=history, quarantined=tuple(dict.fromkeys([*self.quarantined, *new]))
        ), alarms

    def state(self) -> dict[str, Any]:
        """Return everything as JSON-ready data, for :meth:`from_state`."""
        return {
            "history": self.history.as_json(),
            "entropy": self.entropy,
            "quarantined": list(self.quarantined),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Watch:
        """Return the watch that :meth:`state` described."""
        return cls(History.from_json(state["history"]), state["entropy"], tuple(state["quarantined"]))


def environment_seen(played: Played, random: Tally | None = None) -> EnvironmentSeen:
    """Return what the monitors are told of one environment's plays, and of what random play won in it."""
    blind = [one for one in played.blind if one.counts]
    plain, hinted = list(played.episodes(hinted=False)), list(played.episodes(hinted=True))
    won = [one for one in hinted if one.success]
    return EnvironmentSeen(
        played.env_id,
        plain=_by_seed(plain),
        hinted=_by_seed(hinted),
        plain_unread=_unread(plain),
        hinted_unread=_unread(hinted),
        regret=played.regret,
        random=random,
        blind=Tally(sum(one.success for one in blind), len(blind)) if blind else None,
        echoed=Tally(sum(one.echoed for one in won), len(won)),
    )


def _by_seed(episodes: Sequence[Episode]) -> dict[int, Tally]:
    seeds = dict.fromkeys(one.task.seed for one in episodes)
    of_seed = {seed: [one.success for one in episodes if one.task.seed == seed] for seed in seeds}
    return {seed: Tally(sum(won), len(won)) for seed, won in of_seed.items()}


def _unread(episodes: Sequence[Episode]) -> Tally:
    return Tally(sum(one.well_formed < UNREADABLE for one in episodes), len(episodes))
