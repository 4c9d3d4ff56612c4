"""Oracles' own way to play designs: it shares nothing with the gates that are tested by it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Literal

import numpy as np

from spade_envs.contract import Header, Rejection, parse_header
from spade_envs.contract.plain import plain
from spade_envs.errors import WorkerFault
from spade_envs.isolation import InstanceInfo, Limits
from spade_envs.isolation.host import Worker

LIMITS = Limits(build_s=6.0, call_s=3.0)  # a busy machine is no proof of a slow design
Level = int | None


@dataclass(frozen=True, slots=True)
class Play:
    """One episode: what was done and what came of it; ``told`` is each info, ``fault`` a kind and a message."""

    level: Level
    seed: int
    actions: tuple[Any, ...] = ()
    states: tuple[str, ...] = ()
    rewards: tuple[float, ...] = ()
    stated: tuple[Any, ...] = ()
    hints: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    terminated: bool = False
    over: bool = False
    fault: tuple[str, str] | None = None

    @property
    def total(self) -> float:
        """The sum of the rewards."""
        return sum(self.rewards)

    @property
    def success(self) -> bool:
        """Whether it ended in success."""
        return bool(self.over and self.stated and self.stated[-1])

    @property
    def seen(self) -> tuple[Any, ...]:
        """All that came back, for comparison with another play of the same actions."""
        return self.states, self.rewards, tuple(map(str, self.stated)), self.terminated, self.fault


class View:
    """What a policy may look at."""

    def __init__(self, worker: Worker, info: InstanceInfo, seed: int) -> None:
        self._worker, self.info, self.seed = worker, info, seed
        self.rng = np.random.default_rng([7, seed])
        self.observation: Any = None

    def ask(self, call: str) -> Any:
        """Return what ``expert_action``, ``hint`` or ``render`` gives now."""
        return getattr(self._worker, call)(self.info.index)


Policy = Callable[[View], Iterator[Any]]


class Stage:
    """A design in a worker of its own, which is started again after it died."""

    def __init__(
        self, source: str, hash_seed: int = 0, isolation: Literal["process", "none"] = "process"
    ) -> None:
        header = parse_header(source)
        assert isinstance(header, Header), header
        self.source, self.hash_seed, self.isolation = source, hash_seed, isolation
        self.limit = header.max_episode_steps
        count = header.difficulty_levels
        self.levels: tuple[Level, ...] = tuple(range(1, count + 1)) if count else (None,)
        self._worker: Worker | None = None
        self._infos: dict[Level, InstanceInfo] = {}
        self._hangs: list[tuple[str, str]] = []

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            self._worker.close()
        self._worker, self._infos = None, {}

    def info(self, level: Level) -> InstanceInfo:
        """Return what the instance of a level says of itself.

        Raises:
            WorkerFault: it cannot be built.
        """
        if self._worker is None or not self._worker.alive:
            self._worker, self._infos = Worker.start(LIMITS, self.hash_seed, self.isolation), {}
            if isinstance(self._worker.load(self.source), Rejection):
                raise WorkerFault("language", "the source is refused")
        if level not in self._infos:
            self._infos[level] = self._worker.make(**({} if level is None else {"difficulty": level}))
        return self._infos[level]

    def play(self, policy: Policy, level: Level, seed: int, *, look: bool = False, at_least: int = 0) -> Play:
        """Play one episode; with ``look``, render and hint are asked for in each state.

        Past the time limit it goes on up to ``at_least`` steps, as far as the design lets it.
        """
        if len(self._hangs) > 1:  # each costs seconds, and two prove it
            return Play(level, seed, fault=self._hangs[0])
        record: dict[str, list[Any]] = {
            key: [] for key in ("actions", "states", "rewards", "stated", "hints", "told")
        }
        terminated = over = False
        fault = None
        try:
            info = self.info(level)
            assert self._worker is not None
            view = View(self._worker, info, seed)
            view.observation, told = self._worker.reset(info.index, seed, None)
            record["told"].append(_shown(told))
            record["states"].append(_shown(view.observation))
            self._look(view, record, look)
            for action in policy(view):
                record["actions"].append(action)
                view.observation, reward, terminated, cut, told = self._worker.step(info.index, action)
                record["states"].append(_shown(view.observation))
                record["rewards"].append(reward)
                record["stated"].append(told.get("is_success"))
                record["told"].append(_shown(told))
                over = terminated or cut or len(record["actions"]) >= max(self.limit, at_least)
                if over:
                    break
                self._look(view, record, look)
        except WorkerFault as error:
            fault = (error.kind, str(error))
            self._hangs += [fault] * (error.kind == "timeout")
        lists = {key: tuple(values) for key, values in record.items()}
        return Play(level, seed, **lists, terminated=terminated, over=over, fault=fault)

    @staticmethod
    def _look(view: View, record: dict[str, list[Any]], look: bool) -> None:
        if look:
            if view.info.has_render:
                view.ask("render")
            record["hints"].append(view.ask("hint"))


def _shown(observation: Any) -> str:
    return observation if isinstance(observation, str) else repr(plain(observation))


class Trial:
    """A mutant beside the seed from which it was made. Episodes are played once and kept."""

    def __init__(self, mutant: str, original: str) -> None:
        self.mutant, self.original_source = mutant, original
        self.others: list[Stage] = []

    @cached_property
    def stage(self) -> Stage:
        """The mutant in its worker."""
        return self.fresh()

    @cached_property
    def play(self) -> Callable[..., Play]:
        """Play in the mutant's worker, or return what was played before."""
        return cache(self.stage.play)

    @property
    def original(self) -> Stage:
        """The unchanged design, in this process: it is trusted."""
        return _original(self.original_source)

    def fresh(self, hash_seed: int = 0) -> Stage:
        """Return the mutant in another worker."""
        self.others.append(Stage(self.mutant, hash_seed))
        return self.others[-1]

    def close(self) -> None:
        """End all workers."""
        for stage in self.others:
            stage.close()


@cache
def _original(source: str) -> Stage:
    return Stage(source, isolation="none")
