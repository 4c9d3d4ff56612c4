"""Endurance: vectors of many designs under random kills, hangs, memory bombs and hostile messages.

``pytest -m soak tests/isolation/test_vector_soak.py`` takes a million steps over fifty designs.
"""

from __future__ import annotations

import gc
import os
import signal
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from processes import children, descriptors, eventually, settle, workers, zygote
from small_designs import design

import spade_envs
from spade_envs.isolation import Limits, Quarantine, Worker, WorkerPool
from spade_envs.vector import IsolatedVectorEnv

LIMITS = Limits(call_s=0.25)
HURT = """
self._at = (self._at * {factor} + action + int(self.np_random.integers(9))) % 1000
if action == 5:
    raise ValueError("no")
if action == 6:
    self._bomb = [bytearray(10 ** 8) for _ in range(100)]
if action == 7:
    while True:
        pass
"""


def fragile(factor: int) -> str:
    """A design of which three actions are fatal."""
    return design(
        reset="self._at = int(self.np_random.integers(1000))",
        step=HURT.format(factor=factor).strip(),
        observation_space="spaces.Discrete(1000)",
        observation="self._at",
        info="{'at': self._at}",
    )


@dataclass
class Tally:
    """What was done to the vectors, and what they said of it."""

    steps: int = 0
    losses: int = 0
    kills: int = 0
    lies: int = 0
    unexpected: list[Any] = field(default_factory=list)


class Ordeal:
    """One vector, and what happens to it."""

    def __init__(
        self,
        source: str,
        count: int,
        random: np.random.Generator,
        rate: float,
        attacks: float,
        fatal: bool,
    ) -> None:
        pool = WorkerPool(LIMITS, spares=0, quarantine=Quarantine(most_deaths=10**9))
        before = set(workers())
        self.vector = IsolatedVectorEnv(source, count, pool=pool)
        self.workers = set(workers()) - before
        self.random, self.rate, self.attacks = random, rate, attacks
        self.fatal, self.count = fatal, count
        self.vector.action_space.seed(int(random.integers(2**31)))
        self.vector.reset(seed=int(random.integers(2**31)))

    def step(self, tally: Tally) -> None:
        over = set(self.vector._over) | {at for at, n in self.vector._crew.blame.deaths.items() if n >= 10}
        actions = self.vector.action_space.sample()
        doomed: set[int] = set()
        if self.fatal:
            actions = self.random.integers(0, 5, self.count)
            doomed = set(np.flatnonzero(self.random.random(self.count) < self.rate).tolist()) - over
            actions[list(doomed)] = self.random.choice([5, 6, 6, 7], len(doomed))
        attack = self.random.random()
        killed = attack < self.attacks and self._kill()
        lied = self.attacks < attack < 2 * self.attacks
        if lied:
            self._lie()
        _, rewards, _, truncated, infos = self.vector.step(actions)
        named = set(np.flatnonzero(infos.get("_fault", np.zeros(self.count, bool))).tolist()) - over
        tally.steps += self.count
        tally.losses += len(doomed)
        tally.kills += killed
        tally.lies += lied
        assert np.isfinite(rewards).all()
        assert all(truncated[at] for at in named)
        assert doomed <= named, "a loss that is not reported"
        if len(named - doomed) > killed + lied:
            tally.unexpected.append([infos["fault"][at] for at in named - doomed])

    def _kill(self) -> bool:
        mine = set(workers()) & self._own()
        for worker in list(mine)[:1]:
            os.kill(worker, signal.SIGKILL)
        return bool(mine)

    def _own(self) -> set[int]:
        return set(workers()) if len(self.workers) == 0 else self.workers

    def _lie(self) -> None:
        """Have the worker's next reply arrive as other bytes."""
        channel = self.vector._crew._squads[0].worker._channel
        honest = channel.collect
        lie = self.random.bytes(int(self.random.integers(0, 60)))

        def collect(*arguments: Any) -> bytes:
            honest(*arguments)
            del channel.collect
            return lie

        channel.collect = collect  # type: ignore[method-assign]


def ordeal(
    sources: list[tuple[str, bool]], count: int, rounds: int, rate: float, attacks: float, seed: int
) -> Tally:
    """Put vectors of designs through it, side by side; at the end nothing of them may be left.

    Args:
        sources: designs, and whether some of their actions are fatal.
        count: environments of each.
        rounds: steps of each vector.
        rate: how often an environment is given a fatal action.
        attacks: how often a worker is killed, and how often its reply is replaced, for each step of a vector.
        seed: of all that is drawn.
    """
    Worker.start().close()
    gc.collect()
    settle()
    before = descriptors(), descriptors(zygote()), len(children(zygote()))
    tally, random = Tally(), np.random.default_rng(seed)
    ordeals = [Ordeal(source, count, random, rate, attacks, fatal) for source, fatal in sources]
    for _ in range(rounds):
        for one in ordeals:
            one.step(tally)
    for one in ordeals:
        one.vector.close()
    del ordeals, one
    gc.collect()
    assert eventually(lambda: (descriptors(), descriptors(zygote()), len(children(zygote()))) == before)
    return tally


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4 // 1024


def test_a_short_ordeal_leaves_nothing_and_every_loss_is_told() -> None:
    sources = [(fragile(31), True), (fragile(37), True)]
    sources += [
        ((spade_envs.seeds_folder() / f"{name}.py").read_text(), False) for name in ("maze_key", "word_gate")
    ]
    tally = ordeal(sources, 6, 30, 0.02, 0.04, 0)
    assert tally.losses > 3
    assert tally.kills + tally.lies > 1
    assert not tally.unexpected, tally


@pytest.mark.soak
def test_a_million_steps_over_fifty_designs() -> None:
    seeds = [(path.read_text(), False) for path in sorted(spade_envs.seeds_folder().glob("*.py"))]
    designs = seeds + [(fragile(31 + 2 * at), True) for at in range(50 - len(seeds))]
    done, sizes, unexpected, told = 0, [], [], Tally()
    while done < 1_000_000:
        for start in range(0, 50, 10):
            tally = ordeal(designs[start : start + 10], 32, 100, 0.0002, 0.004, done)
            done += tally.steps
            unexpected += tally.unexpected
            told = Tally(done, told.losses + tally.losses, told.kills + tally.kills, told.lies + tally.lies)
        sizes.append(resident())
        print(f"{sizes[-1]} MB, {told}", flush=True)
    assert not unexpected
    assert sizes[-1] < sizes[0] + 64
