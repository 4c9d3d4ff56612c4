"""Designs as Gymnasium environments, and the entry point that the registry's ids stand for."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal

import gymnasium as gym

from spade_envs.contract import Header, Rejection, file_sha256, parse_header
from spade_envs.errors import RegistryError, UsageError, WorkerFault
from spade_envs.isolation import InstanceInfo, Isolation, Limits, WorkerPool
from spade_envs.snapshot import Snapshot

OnFault = Literal["truncate", "raise"]


class IsolatedEnv(gym.Env[Any, Any]):
    """A design's environment; the design itself runs in a worker process (what that stops, and what it does
    not stop, is said in :mod:`spade_envs.isolation.lockdown`).

    A worker that exceeds its deadline or its memory, dies, raises, or returns what the contract does not
    allow, ends the episode: ``truncated`` is true, ``info["worker_restarted"]`` is true and
    ``info["fault"]`` says what happened; the next reset starts another worker. A pickled or copied
    environment is made anew from its source and arguments; its episode is not copied: :meth:`snapshot` does
    that. In a forked process the next reset starts a worker of its own. After ten deaths of its workers in a
    row a design is quarantined: the next reset raises.

    Args:
        source: the environment file's text.
        render_mode: ``"ansi"`` or None.
        isolation: ``"process"``; ``"container"`` to have the worker in a container besides (docs/how-to/containers.md);
            or ``"none"`` for a design that is trusted: it then runs in this process.
        on_fault: ``"raise"`` raises the :class:`~spade_envs.errors.WorkerFault` instead of truncating.
        limits: what the worker may use.
        pool: where workers come from, with the pool's own isolation and limits; each is started anew without.
        **arguments: for the design's constructor, for example ``difficulty=2``.

    Attributes:
        header: the source's header.
        rules: the design's docstring.
        action_names: words for the actions, where the design gives them.
        tools: function schemas of a tool-use environment; else empty.

    Raises:
        UsageError: the source is refused; the message has all findings.
        WorkerFault: the constructor fails, or a reset does.
    """

    header: Header
    rules: str
    action_names: tuple[str, ...] | None
    tools: list[dict[str, Any]]

    def __init__(
        self,
        source: str,
        *,
        render_mode: str | None = None,
        isolation: Isolation = "process",
        on_fault: OnFault = "truncate",
        limits: Limits | None = None,
        pool: WorkerPool | None = None,
        **arguments: Any,
    ) -> None:
        if render_mode not in (None, "ansi"):
            raise UsageError(f"render_mode must be None or 'ansi', found {render_mode!r}")
        if on_fault not in ("truncate", "raise"):
            raise UsageError(f"on_fault must be 'truncate' or 'raise', found {on_fault!r}")
        self.source, self.render_mode = source, render_mode
        self._isolation, self._on_fault, self._limits = isolation, on_fault, limits
        self._pool = pool or WorkerPool(limits, isolation=isolation, spares=0)
        self._arguments = arguments
        self.header = header_of(source)
        check_difficulty(self.header, arguments)
        self._fault: str | None = None
        self._observation: Any = None
        info = self._start()
        self.observation_space, self.action_space = info.observation_space, info.action_space
        self.rules, self.action_names, self.tools = info.rules, info.action_names, info.tools
        self.metadata = info.metadata

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode. The same seed gives the same one, and the same unseeded ones after it.

        Raises:
            WorkerFault: the design fails, or is quarantined.
        """
        super().reset(seed=seed)
        if self._observation is not None and self._fault is None:
            self._pool.quarantine.absolve(self.source)
        return self._begin(int(self.np_random.integers(2**31)) if seed is None else seed, options)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take one step.

        Raises:
            UsageError: the action does not lie in the action space.
            ResetNeeded: no episode has begun.
            WorkerFault: as told to by ``on_fault="raise"``.
        """
        if self._observation is None:
            raise gym.error.ResetNeeded("no episode has begun: call reset() before step()")
        try:
            result = self._worker.step(self._index, action)
        except WorkerFault as fault:
            return self._cut(fault)
        self._observation = result[0]
        if len(self._actions) <= self.header.max_episode_steps:
            self._actions.append(action if type(action) in (int, str) else copy.deepcopy(action))
        return result

    @property
    def observation(self) -> Any:
        """The last observation, None where no episode has begun."""
        return self._observation

    def snapshot(self) -> Snapshot:
        """Return the episode so far, as what it takes to play it again: cheap, picklable, good in any process.

        Wrappers count for themselves: a time limit's steps are not part of it.

        Raises:
            ResetNeeded: no episode has begun.
            UsageError: the episode was stopped by a fault, or is longer than the header allows.
        """
        if self._observation is None:
            raise gym.error.ResetNeeded("no episode has begun: call reset() before snapshot()")
        if self._fault is not None:
            raise UsageError(f"the episode was stopped, there is nothing to return to: {self._fault}")
        if len(self._actions) > self.header.max_episode_steps:
            raise UsageError(
                f"the episode has more than the {self.header.max_episode_steps} steps it may have"
            )
        return Snapshot.of(self.source, self._arguments, self._begun, self._actions, self._observation)

    def restore(self, snapshot: Snapshot) -> tuple[Any, dict[str, Any]]:
        """Return to a snapshot's state, by playing its episode again. Returns observation and info.

        Raises:
            UsageError: it is of another design, or of one with other arguments.
            WorkerFault: the design fails, or does not repeat its episode.
        """
        snapshot.check(self.source, self._arguments)
        observation, info = self._begin(snapshot.seed, snapshot.options)
        self._observation = None  # until it is reached there is no episode
        for action in snapshot.actions:
            observation, _, _, _, info = self._asked(self._worker.step, action)
        if not snapshot.shows(observation):
            raise WorkerFault("contract", "restore: the design does not repeat its episode")
        self._observation, self._actions = observation, list(snapshot.actions)
        return observation, info

    def _asked(self, call: Callable[..., Any], *arguments: Any) -> Any:
        """Return what the worker answers; where that ends the worker, the episode is over."""
        try:
            return call(self._index, *arguments)
        except WorkerFault as fault:
            if not self._worker.alive:
                self._note(fault)
            raise

    def _note(self, fault: WorkerFault) -> None:
        """Keep the fault that ended the episode; what comes after it is its consequence."""
        if self._fault is None:
            self._pool.quarantine.blame(self.source, fault)
            self._fault = f"{fault.kind}: {fault}"

    def render(self) -> str | None:
        """Return the state as text where ``render_mode`` is ``"ansi"``, else None."""
        return None if self.render_mode is None else self.describe()

    def describe(self) -> str:
        """Return the state as text: what the design renders, or else the observation."""
        if self._fault is not None:
            return f"The episode was stopped: {self._fault}"
        text = self._asked(self._worker.render) if self._has_render else None
        return str(self._observation) if text is None else text

    def hint(self) -> str:
        """Return privileged help for the present episode."""
        text: str = self._asked(self._worker.hint)
        return text

    def expert_action(self) -> Any:
        """Return the action that the design's reference policy takes in the present state."""
        return self._asked(self._worker.expert_action)

    def close(self) -> None:
        """End the worker. Safe to call again."""
        self._worker.close()

    def __reduce__(self) -> tuple[Any, ...]:
        made_anew = partial(
            type(self),
            self.source,
            render_mode=self.render_mode,
            isolation=self._isolation,
            on_fault=self._on_fault,
            limits=self._limits,
            **self._arguments,
        )
        return made_anew, (), {"spec": self.spec}

    def _begin(self, seed: int, options: dict[str, Any] | None) -> tuple[Any, dict[str, Any]]:
        try:
            if not self._worker.alive:
                self._start()
            observation, info = self._worker.reset(self._index, seed, options)
        except WorkerFault as fault:
            self._pool.quarantine.blame(self.source, fault)
            raise
        self._observation, self._fault = observation, None
        self._begun, self._actions = (seed, copy.deepcopy(options)), []
        return observation, info

    def _start(self) -> InstanceInfo:
        taken = self._pool.take(self.source)
        if isinstance(taken, Rejection):
            raise UsageError(f"the source is refused:\n{taken.text(str(self.header.id), self.source)}")
        self._worker = taken
        try:
            info = self._worker.make(**self._arguments)
        except BaseException:
            self._worker.close()
            raise
        self._index, self._has_render = info.index, info.has_render
        return info

    def _cut(self, fault: WorkerFault) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """End the episode after a fault, with the last observation: it lies in the space, and it is true."""
        self._worker.close()
        self._note(fault)
        if self._on_fault == "raise":
            raise fault
        info = {"worker_restarted": True, "fault": self._fault}
        return copy.deepcopy(self._observation), 0.0, False, True, info


def make_environment(*, path: str, sha256: str, **arguments: Any) -> IsolatedEnv:
    """Make the environment of one registered file; Gymnasium's entry point.

    Args:
        path: the environment file.
        sha256: hash of the file's content when it was registered.
        **arguments: those of :class:`IsolatedEnv`.

    Raises:
        RegistryError: the file cannot be read, or is not the one that was registered.
    """
    return IsolatedEnv(read_registered(path, sha256), **arguments)


def make_vector_environment(
    *, num_envs: int, path: str, sha256: str, **arguments: Any
) -> gym.vector.VectorEnv:
    """Make many environments of one registered file; Gymnasium's entry point of vectors.

    Args:
        num_envs: how many.
        path: the environment file.
        sha256: hash of the file's content when it was registered.
        **arguments: those of :class:`~spade_envs.vector.IsolatedVectorEnv`.

    Raises:
        RegistryError: the file cannot be read, or is not the one that was registered.
    """
    from spade_envs.vector import IsolatedVectorEnv

    return IsolatedVectorEnv(read_registered(path, sha256), num_envs, **arguments)


def read_registered(path: str, sha256: str) -> str:
    """Return the text of a registered file.

    Raises:
        RegistryError: it cannot be read, or is not the one that was registered.
    """
    try:
        source = Path(path).read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RegistryError(f"{path} cannot be read: {error}") from None
    if file_sha256(source) != sha256:
        raise RegistryError(
            f"{path} is not the file that is asked for: its SHA-256 begins {file_sha256(source)[:12]}, wanted is "
            f"{sha256[:12]}. Versions never change: restore the file, or pin the one that is there."
        )
    return source


def check_difficulty(header: Header, arguments: dict[str, Any]) -> None:
    """Let arguments pass whose difficulty level exists, or raise UsageError."""
    levels, chosen = header.difficulty_levels, arguments.get("difficulty")
    if levels and chosen is not None and (not isinstance(chosen, int) or not 1 <= chosen <= levels):
        raise UsageError(f"{header.id} has the difficulty levels 1 to {levels}, found difficulty={chosen!r}")


def chosen_level(header: Header, chosen: int | None) -> int | None:
    """Return the level that is played: the chosen one, else the easiest, None for a design that has none.

    Raises:
        UsageError: it has no such level.
    """
    levels = header.difficulty_levels or 0
    if chosen is not None and not 1 <= chosen <= levels:
        raise UsageError(
            f"{header.id} has {levels or 'no'} difficulty levels; leave the level out or choose a lower one"
        )
    return chosen or (1 if levels else None)


def header_of(source: str) -> Header:
    """Return a source's header, or raise UsageError."""
    header = parse_header(source)
    if isinstance(header, Rejection):
        raise UsageError(f"the source is refused:\n{header.text(source=source)}")
    return header
