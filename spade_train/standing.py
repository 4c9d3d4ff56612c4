"""Where environments stand in a run, and what each round puts on record of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from spade_envs import Registry
from spade_envs.records import Choice, Measured, StatusChange
from spade_envs.registry import Rules, keep_round, standings
from spade_train.rewards.regret import paired_regret
from spade_train.rounds import Design, Played
from spade_train.world import World

OUT = ("mastered", "too_hard", "retired", "quarantined")
"""Statuses in which an environment is not chosen."""


@dataclass(frozen=True, slots=True)
class Tallied:
    """What the plays of one environment came to, in a form that processes can exchange.

    Attributes:
        plain, hinted: seed -> returns of the plays that count, without and with the hint.
        won, hinted_won: how many of them succeeded.
        turns: of all unhinted plays that count, together.
        faults: plays that the environment's own fault has ended.
    """

    env_id: str
    why: str
    plain: dict[int, list[float]]
    hinted: dict[int, list[float]]
    won: int
    hinted_won: int
    turns: int
    faults: int

    @classmethod
    def of(cls, played: Played, why: str) -> Tallied:
        """Return what a round's plays of one environment came to."""
        plain, hinted = list(played.episodes(hinted=False)), list(played.episodes(hinted=True))
        return cls(
            played.env_id,
            f"{why}: {played.why}" if played.why else why,
            played.returns(hinted=False),
            played.returns(hinted=True),
            sum(one.success for one in plain),
            sum(one.success for one in hinted),
            sum(one.turns for one in plain),
            played.faults,
        )


@dataclass(frozen=True, slots=True)
class Kept:
    """What a round put on record: measures of all processes' plays, one entry an environment; changes of status."""

    measured: tuple[Measured, ...]
    changes: tuple[StatusChange, ...]


@dataclass
class Standing:
    """Where environments stand; the first process writes it down, all know it.

    Attributes:
        registry: the run's own, of whose records.
        run: the run's name.
        rules: when an environment changes its status.
    """

    registry: Registry
    run: str
    rules: Rules = field(default_factory=Rules)
    world: World = field(default_factory=World)
    _known: dict[str, str] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        if self.registry.root.is_dir():
            self._known = standings(self.registry)

    def may_play(self, env_id: str) -> bool:
        """Say whether an environment may be chosen, as far as it is known where it stands."""
        return self._known.get(env_id) not in OUT

    def is_active(self, env_id: str) -> bool:
        """Say whether an environment of the run's own is in the pool."""
        return self._known.get(env_id) == "active"

    @property
    def statuses(self) -> Mapping[str, str]:
        """Return id -> status of every environment on record."""
        return self._known

    def after(
        self, number: int, designs: Sequence[Design], played: Sequence[Played], quarantined: Iterable[str]
    ) -> Kept:
        """Put a round on record; every process gets the same.

        Args:
            number: the round's number.
            designs: of this process; the first of ``played`` stand for them.
            played: by this process.
            quarantined: what the watch over the designer has found; the same in all processes.

        Raises:
            RegistryError: the records cannot be written.
        """
        mine = [Tallied.of(one, why) for one, why in zip(played, _reasons(designs, len(played)), strict=True)]
        tested = [one for part in self.world.gather(mine) for one in part]
        measured = merged(tested, self.run, number)
        written = self._written(number, tested, measured, quarantined) if self.world.first else ([], {})
        changes, self._known = self.world.gather(written)[0]
        return Kept(tuple(measured), tuple(changes))

    def _written(
        self,
        number: int,
        tested: Sequence[Tallied],
        measured: Sequence[Measured],
        quarantined: Iterable[str],
    ) -> tuple[list[StatusChange], dict[str, str]]:
        why = "its designer was found to cheat by it"
        changes = keep_round(
            self.registry,
            self.run,
            number,
            measured=measured,
            choices=[Choice(i, self.run, number, w) for i, w in sorted({(t.env_id, t.why) for t in tested})],
            rules=self.rules,
            also=[StatusChange(env_id, "quarantined", why, self.run, number) for env_id in quarantined],
        )
        return changes, standings(self.registry)


def merged(tested: Iterable[Tallied], run: str, number: int) -> list[Measured]:
    """Return one measurement for each environment, of all plays of all processes, by id."""
    by_id: dict[str, list[Tallied]] = {}
    for one in tested:
        by_id.setdefault(one.env_id, []).append(one)
    return [_measured(env_id, by_id[env_id], run, number) for env_id in sorted(by_id)]


def _measured(env_id: str, tested: Sequence[Tallied], run: str, number: int) -> Measured:
    plain, hinted = _joined(one.plain for one in tested), _joined(one.hinted for one in tested)
    returns, with_hint = _all(plain), _all(hinted)
    regret = paired_regret(plain, hinted)
    return Measured(
        env_id,
        run,
        number,
        plays=len(returns),
        hinted_plays=len(with_hint),
        faults=sum(one.faults for one in tested),
        mean_return=fmean(returns) if returns else None,
        success=sum(one.won for one in tested) / len(returns) if returns else None,
        hinted_success=sum(one.hinted_won for one in tested) / len(with_hint) if with_hint else None,
        regret=regret.mean if regret else None,
        regret_low=regret.low if regret else None,
        regret_high=regret.high if regret else None,
        mean_steps=sum(one.turns for one in tested) / len(returns) if returns else None,
    )


def _joined(parts: Iterable[dict[int, list[float]]]) -> dict[int, list[float]]:
    found: dict[int, list[float]] = {}
    for part in parts:
        for seed, returns in part.items():
            found.setdefault(seed, []).extend(returns)
    return found


def _all(returns: dict[int, list[float]]) -> list[float]:
    return [one for of_seed in returns.values() for one in of_seed]


def _reasons(designs: Sequence[Design], count: int) -> list[str]:
    """Say of each environment that was played why it was chosen."""
    of_designs = [
        "it was designed in this round" if design.env_id else "it fills the block of a refused design"
        for design in designs
    ]
    return of_designs + ["it is played beside the designs, from the pool"] * (count - len(designs))
