"""One design at work: its workers, and the episodes that are played in them."""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np

from spade_envs.admission.actions import sample
from spade_envs.admission.bench import Bench, patience
from spade_envs.admission.evidence import Episode, Evidence, Fault, Level, Memory, Restart, Surroundings
from spade_envs.admission.gates import SETTLED, grows
from spade_envs.admission.record import Record
from spade_envs.admission.scene import Policy, Scene, scripted
from spade_envs.admission.settings import Settings
from spade_envs.contract.findings import Rejection
from spade_envs.contract.header import Header
from spade_envs.errors import IsolationError, WorkerFault

WEIGHED_STEPS, WEIGHED_TIMES = 60, 16
"""Between two looks at a worker's memory; looks at most: NumPy fills what it keeps for printing arrays in ten."""
SALT = 0x5BADE  # admission's own generator: independent of every seed that a design is given


class Enough(Exception):
    """A fault settles the verdict: nothing more is played."""


class Lab:
    """Plays episodes of one design and keeps them as evidence. Close it, or use it in a ``with`` block."""

    def __init__(
        self, source: str, header: Header, settings: Settings, around: Surroundings | None = None
    ) -> None:
        self.source, self.settings = source, settings
        self.evidence = Evidence(header, source=source, around=around or Surroundings())
        self._benches: dict[int, Bench] = {}
        self._known: dict[tuple[str, Level, int], Episode] = {}
        self._singly = False  # whether scripts are played step by step
        self._deadline = time.monotonic() + settings.budget_s * patience()

    def __enter__(self) -> Lab:
        return self

    def __exit__(self, *_: object) -> None:
        for bench in self._benches.values():
            bench.close()

    def bench(self, number: int = 0) -> Bench:
        """Return the first or the second bench: separate interpreters with different hash seeds."""
        if number not in self._benches:
            self._benches[number] = bench = Bench(hash_seed=number)
            loaded = bench.load(self.source)
            self.evidence.rejection = loaded if isinstance(loaded, Rejection) else None
        return self._benches[number]

    def open(self) -> None:
        """Compile the design in the first worker. Raises Enough where it is refused or the worker fails."""
        try:
            self.bench()
        except WorkerFault as fault:
            self._end_with(Episode("load", None, 0, fault=Fault(fault.kind, str(fault))))
        if self.evidence.rejection:
            raise Enough

    def play(self, name: str, policy: Policy, level: Level, seed: int, *, watch: bool = False) -> Episode:
        """Play one episode, or return it where it was played before.

        Args:
            name: the policy's name; the same name, level and seed stand for the same episode.
            policy: yields actions; the episode ends with them, at its end, or at the time limit.
            level: difficulty level.
            seed: seed of the reset.
            watch: whether the text and the hint of every state are asked for.

        Raises:
            Enough: the design failed or the time is used up; the episode is kept as evidence.
        """
        key = (name, level, seed)
        if key not in self._known:
            self._known[key] = episode = self.perform(name, policy, level, seed, watch=watch)
            self.evidence.episodes.append(episode)
        return self._known[key]

    def repeat(self, episode: Episode, *, bench: int, watch: bool = False) -> None:
        """Play an episode's actions again, with its expert out of sight, and keep both as a pair."""

        def actions(scene: Scene) -> Iterator[Any]:
            scene.restarts = any(isinstance(action, Restart) for action in episode.actions)
            return scripted(episode.actions)

        name = f"{episode.policy} again, {('later', 'in another interpreter')[bench]}"
        again = self.perform(name, actions, episode.level, episode.seed, bench=bench, watch=watch)
        self.evidence.pairs.append((episode, again))

    def beside(self, episode: Episode) -> None:
        """Play an episode's actions again while another instance plays in the same worker; keep the pair."""
        bench = self.bench()
        other = Scene(bench, episode.level, episode.seed, np.random.default_rng(SALT))
        other.instance = bench.another(episode.level)

        def actions(_: Scene) -> Iterator[Any]:
            other.ask("reset", episode.seed + 1, None)
            for action in episode.actions:
                yield action
                (turn,) = other.ask(
                    "advance", [sample(other.instance.action_space, other.instance.tools, other.rng)]
                )
                if turn.over:
                    other.ask("reset", None, None)

        again = self.perform(
            f"{episode.policy} again, beside another instance", actions, episode.level, episode.seed
        )
        self.evidence.pairs.append((episode, again))

    def weigh(self, what: str, policy: Policy, episode: Episode) -> None:
        """Play an episode over and over and note what the worker holds, until it is seen to keep nothing.

        Args:
            what: is played, as the gate calls it.
            policy: plays the episode, with every text and hint looked at.
            episode: as it was played before.
        """
        length = max(1, len(episode.actions))
        repetitions = -(-WEIGHED_STEPS // length)
        looks = self.evidence.memory.setdefault(what, [])
        while len(looks) < SETTLED + 2 or (grows(looks) and len(looks) < WEIGHED_TIMES):
            for _ in range(repetitions):
                self.perform(what, policy, episode.level, episode.seed, watch=True)
            looks.append(Memory(repetitions * length, repetitions, *self.bench().worker.memory()))

    def perform(
        self, name: str, policy: Policy, level: Level, seed: int, *, bench: int = 0, watch: bool = False
    ) -> Episode:
        """Play one episode without keeping it, unless it fails.

        Scripts are played in one exchange. After a fault the episode is played again step by step, in another
        worker: that shows which step it was, or that only all of them together took too long or said too much.
        """
        if time.monotonic() > self._deadline:
            self.evidence.too_slow = True
            raise Enough
        episode = self._attempt(name, policy, level, seed, bench, watch)
        if episode.fault and not self._singly:
            self._singly = True
            self.close_bench(bench)
            again = self._attempt(name, policy, level, seed, bench, watch)
            excused = again.fault is None and episode.fault.kind in ("timeout", "contract", "closed")
            episode = again if again.fault or excused else episode
        if episode.fault:
            self._end_with(episode)
        return episode

    def _end_with(self, episode: Episode) -> NoReturn:
        """Keep an episode that failed as the last evidence; a worker that was taken away says nothing."""
        assert episode.fault is not None
        if episode.fault.kind == "closed":
            raise IsolationError(episode.fault.message)
        self.evidence.episodes.append(episode)
        raise Enough

    def _attempt(
        self, name: str, policy: Policy, level: Level, seed: int, bench: int, watch: bool
    ) -> Episode:
        rng = np.random.default_rng([SALT, zlib.crc32(name.encode()), level or 0, seed])
        record = Record(name, level, seed, self.evidence.header.max_episode_steps)
        scene: Scene | None = None
        try:
            scene = Scene(self.bench(bench), level, seed, rng)
            record.run(scene, policy, watch, self._singly)
        except WorkerFault as fault:
            return record.episode(scene, Fault(fault.kind, str(fault)))
        return record.episode(scene)

    def close_bench(self, number: int) -> None:
        """End a worker; the next use of its bench starts another."""
        self._benches.pop(number).close()
