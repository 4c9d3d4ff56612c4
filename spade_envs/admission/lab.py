"""One design at work: its workers, its instances, and the player that turns a policy into an episode."""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import numpy as np

from spade_envs.admission.actions import sample
from spade_envs.admission.evidence import Episode, Evidence, Fault, Level, Memory, Restart
from spade_envs.admission.settings import Settings
from spade_envs.contract.findings import Rejection
from spade_envs.contract.header import Header
from spade_envs.errors import WorkerFault
from spade_envs.isolation import InstanceInfo, Limits, Turn, Worker

WEIGHED_STEPS = 100  # between two looks at a worker's memory
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

    def another(self, level: Level) -> InstanceInfo:
        """Return one more instance of a level."""
        return self.worker.make(**({} if level is None else {"difficulty": level}))


@dataclass(frozen=True, slots=True)
class Script:
    """Actions that a policy knows ahead: they are played in one exchange, up to the episode's end."""

    actions: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Follow:
    """The expert's actions, so many, played like a script."""

    steps: int


class Scene:
    """What a policy may look at while it plays."""

    def __init__(self, bench: Bench, level: Level, seed: int, rng: np.random.Generator) -> None:
        self._worker = bench.worker
        self.instance = bench.instance(level)
        self.seed, self.rng = seed, rng
        self.observation: Any = None
        self.info: dict[str, Any] = {}
        self.over = False
        self.restarts = False  # whether the policy goes on after the end, with an unseeded reset
        self.breaches: list[tuple[str, str]] = []
        self.trying: tuple[Any, ...] = ()  # the action that is being played, should it be the last

    def ask(self, call: str, *arguments: Any, **options: Any) -> Any:
        """Call one of the design's methods in its worker."""
        return getattr(self._worker, call)(self.instance.index, *arguments, **options)

    def turns(self, move: Any, *, singly: bool, watch: bool) -> Iterator[Turn]:
        """Play a policy's move and yield what comes of each step; a move that is no script is one action."""
        if isinstance(move, (Script, Follow)) and not singly:
            moves = move.steps if isinstance(move, Follow) else move.actions
            yield from self.ask("advance", moves, watch=watch)
            return
        steps: Iterable[Any] = [move]
        if isinstance(move, Follow):
            steps = (self.ask("expert_action") for _ in range(move.steps))
        elif isinstance(move, Script):
            steps = move.actions
        for action in steps:
            self.trying = (action,)
            turn = Turn(action, *self.ask("step", action))
            self.trying = ()
            yield replace(turn, view=self.view()) if watch and not turn.over else turn

    def view(self) -> tuple[str | None, str]:
        """Return the state's text, where the design renders it, and the hint."""
        return self.ask("render") if self.instance.has_render else None, self.ask("hint")

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
        self._singly = False  # whether scripts are played step by step
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

    def weigh(self, episode: Episode, times: int) -> None:
        """Play an episode's actions over and over and note, several times, what the worker holds."""
        length = max(1, len(episode.actions))
        repetitions = -(-WEIGHED_STEPS // length)
        for _ in range(times):
            for _ in range(repetitions):
                self.perform(
                    "the same again",
                    lambda _: scripted(episode.actions),
                    episode.level,
                    episode.seed,
                    watch=True,
                )
            self.evidence.memory.append(
                Memory(repetitions * length, repetitions, *self.bench().worker.memory())
            )

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
            excused = again.fault is None and episode.fault.kind in ("timeout", "contract")
            episode = again if again.fault or excused else episode
        if episode.fault:
            self.evidence.episodes.append(episode)
            raise Enough
        return episode

    def _attempt(
        self, name: str, policy: Policy, level: Level, seed: int, bench: int, watch: bool
    ) -> Episode:
        rng = np.random.default_rng([SALT, zlib.crc32(name.encode()), level or 0, seed])
        record = _Record(name, level, seed, self.evidence.header.max_episode_steps)
        scene: Scene | None = None
        try:
            scene = Scene(self.bench(bench), level, seed, rng)
            record.run(scene, policy, watch, self._singly)
        except WorkerFault as fault:
            return record.episode(scene, Fault(fault.kind, str(fault)))
        return record.episode(scene)

    def close_bench(self, number: int) -> None:
        """End a worker; the next use of its bench starts another."""
        self._benches.pop(number).worker.close()


def scripted(actions: Iterable[Any]) -> Iterator[Any]:
    """Yield actions as scripts, with the restarts between them."""
    part: list[Any] = []
    for action in actions:
        if isinstance(action, Restart):
            yield Script(part)
            yield action
            part = []
        else:
            part.append(action)
    yield Script(part)


class _Record:
    """An episode in the making."""

    def __init__(self, name: str, level: Level, seed: int, limit: int) -> None:
        self.name, self.level, self.seed, self.limit = name, level, seed, limit
        self.actions: list[Any] = []
        self.trace: list[int] = []
        self.views: list[int] = []
        self.hints: list[str] = []
        self.first: tuple[Any, dict[str, Any]] | None = None
        self.total = 0.0
        self.terminated = self.truncated = self.success = False

    def run(self, scene: Scene, policy: Policy, watch: bool, singly: bool) -> None:
        """Play until the policy, the design or the time limit ends it."""
        self._reset(scene, self.seed)
        if watch:
            self._look(scene.view())
        for move in policy(scene):
            if isinstance(move, Restart):
                self.actions.append(move)
                self._reset(scene, None)
                continue
            for turn in scene.turns(self._within_limit(move), singly=singly, watch=watch):
                self._note(scene, turn)
                if scene.over:
                    break
            if scene.over and not scene.restarts:
                break

    def _within_limit(self, move: Any) -> Any:
        """Cut a script at the time limit."""
        left = max(0, self.limit - len(self.actions))
        if isinstance(move, Script):
            return Script(move.actions[:left])
        return Follow(min(move.steps, left)) if isinstance(move, Follow) else move

    def _reset(self, scene: Scene, seed: int | None) -> None:
        scene.observation, scene.info = scene.ask("reset", seed, None)
        self.first = self.first or (scene.observation, scene.info)
        self.terminated = self.truncated = scene.over = False
        self.trace.append(_checksum(scene.observation))

    def _note(self, scene: Scene, turn: Turn) -> None:
        self.actions.append(turn.action)
        scene.observation, scene.info = turn.observation, turn.info
        self.total += turn.reward
        self.terminated = turn.terminated
        self.truncated = turn.truncated or len(self.actions) >= self.limit
        scene.over = self.terminated or self.truncated
        self.success = self._success(scene, turn.info)
        seen = (turn.observation, turn.reward, turn.terminated, turn.truncated, self.success)
        self.trace.append(_checksum(seen))
        if turn.view is not None and not scene.over:
            self._look(turn.view)

    def _success(self, scene: Scene, info: dict[str, Any]) -> bool:
        stated = info.get("is_success")
        if stated is None and self.terminated:
            scene.breach("reward.is-success", "a step that terminates does not state info['is_success']")
        elif stated is not None and not isinstance(stated, (bool, np.bool_)):
            scene.breach("reward.is-success", f"info['is_success'] is {stated!r}, not a bool")
        elif stated and not self.terminated:
            scene.breach("reward.goes-on", "info['is_success'] is true, but the episode goes on")
        return bool(stated)

    def _look(self, view: tuple[str | None, str]) -> None:
        self.hints.append(view[1])
        self.views.append(_checksum(view))

    def episode(self, scene: Scene | None, fault: Fault | None = None) -> Episode:
        return Episode(
            policy=self.name,
            level=self.level,
            seed=self.seed,
            actions=(*self.actions, *(scene.trying if scene and fault else ())),
            total=self.total,
            terminated=self.terminated,
            truncated=self.truncated,
            success=self.success,
            breaches=tuple(dict.fromkeys(scene.breaches)) if scene else (),
            trace=tuple(self.trace),
            views=tuple(self.views),
            hints=tuple(self.hints),
            fault=fault,
            first=self.first,
        )


def _checksum(value: Any) -> int:
    """Return a checksum of nested plain values and arrays."""
    return zlib.crc32(_ENCODER.encode(value))
