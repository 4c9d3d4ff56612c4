"""One design at work: its workers, its instances, and the player that turns a policy into an episode."""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np

from spade_envs.admission.evidence import Episode, Evidence, Fault, Level, Restart
from spade_envs.admission.settings import Settings
from spade_envs.contract.findings import Rejection
from spade_envs.contract.header import Header
from spade_envs.errors import WorkerFault
from spade_envs.isolation.host import InstanceInfo, Worker
from spade_envs.isolation.limits import Limits

SALT = 0x5BADE  # admission's own generator: independent of every seed that a design is given


_ENCODER = msgspec.msgpack.Encoder(enc_hook=lambda array: array.tobytes())


class Enough(Exception):
    """A fault settles the verdict: nothing more is played."""


def patience() -> float:
    """Return by how much deadlines are prolonged while this machine is busy: they count wall time."""
    load = os.getloadavg()[0] / (os.cpu_count() or 1) if hasattr(os, "getloadavg") else 1.0
    return min(10.0, max(1.0, load))


class Bench:
    """One worker, and one instance of the design per level."""

    def __init__(self, hash_seed: int) -> None:
        usual, longer = Limits(), patience()
        limits = replace(usual, build_s=longer * usual.build_s, call_s=longer * usual.call_s)
        self.worker = Worker.start(limits, hash_seed=hash_seed)
        self.instances: dict[Level, InstanceInfo] = {}

    def instance(self, level: Level) -> InstanceInfo:
        """Return the instance of a level; it is made on first use and kept over all episodes."""
        if level not in self.instances:
            options = {} if level is None else {"difficulty": level}
            self.instances[level] = self.worker.make(**options)
        return self.instances[level]


class Scene:
    """What a policy may look at while it plays."""

    def __init__(self, bench: Bench, level: Level, seed: int, rng: np.random.Generator) -> None:
        self._worker = bench.worker
        self.instance = bench.instance(level)
        self.seed, self.rng = seed, rng
        self.observation: Any = None
        self.over = False
        self.restarts = False  # whether the policy goes on after the end, with an unseeded reset
        self.breaches: list[tuple[str, str]] = []

    def ask(self, call: str, *arguments: Any) -> Any:
        """Call one of the design's methods in its worker."""
        return getattr(self._worker, call)(self.instance.index, *arguments)

    def breach(self, rule: str, found: str) -> None:
        """Note what breaks the contract without stopping the episode."""
        self.breaches.append((rule, found))


Policy = Callable[[Scene], Iterator[Any]]


class Lab:
    """Plays episodes of one design and keeps them as evidence. Close it, or use it in a ``with`` block."""

    def __init__(self, source: str, header: Header, settings: Settings) -> None:
        self.source, self.settings = source, settings
        self.evidence = Evidence(header)
        self._benches: dict[int, Bench] = {}
        self._known: dict[tuple[str, Level, int], Episode] = {}
        self._deadline = time.monotonic() + settings.budget_s * patience()

    def __enter__(self) -> Lab:
        return self

    def __exit__(self, *_: object) -> None:
        for bench in self._benches.values():
            bench.worker.close()

    def bench(self, number: int = 0) -> Bench:
        """Return the first or the second bench: separate interpreters with different hash seeds."""
        if number not in self._benches:
            self._benches[number] = bench = Bench(hash_seed=number)
            loaded = bench.worker.load(self.source)
            self.evidence.rejection = loaded if isinstance(loaded, Rejection) else None
        return self._benches[number]

    def open(self) -> None:
        """Compile the design in the first worker. Raises Enough where it is refused or the worker fails."""
        try:
            self.bench()
        except WorkerFault as fault:
            self.evidence.episodes.append(Episode("load", None, 0, fault=Fault(fault.kind, str(fault))))
            raise Enough from fault
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
            return iter(episode.actions)

        name = f"{episode.policy} again, {('later', 'in another interpreter')[bench]}"
        again = self.perform(name, actions, episode.level, episode.seed, bench=bench, watch=watch)
        self.evidence.pairs.append((episode, again))

    def perform(
        self, name: str, policy: Policy, level: Level, seed: int, *, bench: int = 0, watch: bool = False
    ) -> Episode:
        """Play one episode without keeping it, unless it fails."""
        if time.monotonic() > self._deadline:
            self.evidence.too_slow = True
            raise Enough
        rng = np.random.default_rng([SALT, zlib.crc32(name.encode()), level or 0, seed])
        record = _Record(name, level, seed, self.evidence.header.max_episode_steps)
        scene: Scene | None = None
        try:
            scene = Scene(self.bench(bench), level, seed, rng)
            record.run(scene, policy, watch)
        except WorkerFault as fault:
            self.evidence.episodes.append(record.episode(scene, Fault(fault.kind, str(fault))))
            raise Enough from fault
        return record.episode(scene)


class _Record:
    """An episode in the making."""

    def __init__(self, name: str, level: Level, seed: int, limit: int) -> None:
        self.name, self.level, self.seed, self.limit = name, level, seed, limit
        self.actions: list[Any] = []
        self.trace: list[int] = []
        self.views: list[int] = []
        self.hints: list[str] = []
        self.total = 0.0
        self.terminated = self.truncated = self.success = False

    def run(self, scene: Scene, policy: Policy, watch: bool) -> None:
        """Play until the policy, the design or the time limit ends it."""
        self._reset(scene, self.seed)
        if watch:
            self._look(scene)
        for action in policy(scene):
            self.actions.append(action)
            if isinstance(action, Restart):
                self._reset(scene, None)
                continue
            self._step(scene, action)
            if watch and not scene.over:
                self._look(scene)
            if scene.over and not scene.restarts:
                break

    def _reset(self, scene: Scene, seed: int | None) -> None:
        scene.observation, _ = scene.ask("reset", seed, None)
        self.terminated = self.truncated = scene.over = False
        self.trace.append(_checksum(scene.observation))

    def _step(self, scene: Scene, action: Any) -> None:
        observation, reward, terminated, truncated, info = scene.ask("step", action)
        scene.observation = observation
        self.total += reward
        self.terminated = terminated
        self.truncated = truncated or len(self.actions) >= self.limit
        scene.over = self.terminated or self.truncated
        self.success = self._success(scene, info)
        self.trace.append(_checksum((observation, reward, terminated, truncated, self.success)))

    def _success(self, scene: Scene, info: dict[str, Any]) -> bool:
        stated = info.get("is_success")
        if stated is None and self.terminated:
            scene.breach("reward.is-success", "a step that terminates does not state info['is_success']")
        elif stated is not None and not isinstance(stated, (bool, np.bool_)):
            scene.breach("reward.is-success", f"info['is_success'] is {stated!r}, not a bool")
        elif stated and not self.terminated:
            scene.breach("reward.goes-on", "info['is_success'] is true, but the episode goes on")
        return bool(stated)

    def _look(self, scene: Scene) -> None:
        text = scene.ask("render") if scene.instance.has_render else None
        hint = scene.ask("hint")
        self.hints.append(hint)
        self.views.append(_checksum((text, hint)))

    def episode(self, scene: Scene | None, fault: Fault | None = None) -> Episode:
        return Episode(
            policy=self.name,
            level=self.level,
            seed=self.seed,
            actions=tuple(self.actions),
            total=self.total,
            terminated=self.terminated,
            truncated=self.truncated,
            success=self.success,
            breaches=tuple(dict.fromkeys(scene.breaches)) if scene else (),
            trace=tuple(self.trace),
            views=tuple(self.views),
            hints=tuple(self.hints),
            fault=fault,
        )


def _checksum(value: Any) -> int:
    """Return a checksum of nested plain values and arrays."""
    return zlib.crc32(_ENCODER.encode(value))
