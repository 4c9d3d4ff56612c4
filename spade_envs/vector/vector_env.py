"""Many isolated environments as one vector environment of Gymnasium's."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from spade_envs.envs import OnFault
from spade_envs.errors import UsageError, WorkerFault
from spade_envs.isolation import Isolation, Limits, WorkerPool
from spade_envs.isolation.columns import nester, row_of
from spade_envs.snapshot import Snapshot
from spade_envs.vector import infos as vectors
from spade_envs.vector.actions import ActionCheck
from spade_envs.vector.clock import Clock, limits_of
from spade_envs.vector.crew import Crew
from spade_envs.vector.masks import mask_of
from spade_envs.vector.members import members_of
from spade_envs.vector.outcome import Outcome
from spade_envs.vector.seeds import Seeds, spread
from spade_envs.vector.squad import Plan

Stepped = tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]
CALLS = ("render", "hint", "expert_action")
"""What may be called of each environment."""


class IsolatedVectorEnv(VectorEnv[Any, Any, Any]):
    """Environments of one design or of several, each isolated from this process, stepped all at once.

    What a step gives is what Gymnasium's own vectors of the same environments give. A fault is one environment's:
    it is truncated, ``infos["worker_restarted"]`` and ``infos["fault"]`` name it, and the others of its worker are
    rebuilt by playing their episodes again; those that cannot be are named as well.

    Args:
        source: the environment file's text, or several, which take turns until there are ``num_envs``.
        num_envs: how many environments.
        difficulty: a level for all of them, or several, which take turns likewise; the design's own where missing.
        autoreset_mode: when an episode that has ended is followed by the next: ``NEXT_STEP``, ``SAME_STEP`` or
            ``DISABLED``, as Gymnasium documents them.
        max_episode_steps: an episode is truncated after so many steps; after the header's number where missing.
        render_mode: ``"ansi"`` or None.
        isolation: as for :class:`~spade_envs.envs.IsolatedEnv`.
        on_fault: ``"raise"`` raises the first fault of a step, after all environments have taken it.
        limits: what each worker may use.
        pool: where workers come from, with the pool's own isolation and limits.
        workers: how many for each design; where missing, one for fewer than 64 environments, else one for each core
            and 256 environments.
        **arguments: for the designs' constructors.

    Attributes:
        header: the first source's header.
        headers: the header of each environment's source.
        rules: the first design's docstring.
        action_names: words for the actions, where the first design gives them.
        tools: function schemas of a tool-use environment; else empty.

    Raises:
        UsageError: a source is refused, or the environments' spaces differ.
        WorkerFault: a constructor fails.
    """

    def __init__(
        self,
        source: str | Sequence[str],
        num_envs: int | None = None,
        *,
        difficulty: int | Sequence[int] | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        max_episode_steps: int | None = None,
        render_mode: str | None = None,
        isolation: Isolation = "process",
        on_fault: OnFault = "truncate",
        limits: Limits | None = None,
        pool: WorkerPool | None = None,
        workers: int | None = None,
        **arguments: Any,
    ) -> None:
        if render_mode not in (None, "ansi"):
            raise UsageError(f"render_mode must be None or 'ansi', found {render_mode!r}")
        if on_fault not in ("truncate", "raise"):
            raise UsageError(f"on_fault must be 'truncate' or 'raise', found {on_fault!r}")
        members, self.headers = members_of(source, num_envs, difficulty, arguments)
        self.num_envs, self.header = len(members), self.headers[0]
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        limits_of_steps = limits_of(max_episode_steps, self.headers)
        self.render_mode, self._on_fault = render_mode, on_fault
        pool = pool or WorkerPool(limits, isolation=isolation, spares=0)
        self._crew = Crew(members, pool.limits, pool, max(limits_of_steps), workers=workers)
        info = self._crew.infos[0]
        self.rules, self.action_names, self.tools = info.rules, info.action_names, info.tools
        self.metadata = {**info.metadata, "autoreset_mode": self.autoreset_mode}
        self.single_observation_space, self.single_action_space = info.observation_space, info.action_space
        self.observation_space = batch_space(info.observation_space, self.num_envs)
        self.action_space = batch_space(info.action_space, self.num_envs)
        self._checked = ActionCheck(info.action_space, self.action_space, bool(info.tools))
        self._nest = nester(info.observation_space)
        self._seeds = Seeds(self.num_envs)
        self._clock = Clock(limits_of_steps)
        self._over: list[int] = []
        self._begun = False

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode in each environment, or in those that ``options["reset_mask"]`` names.

        Args:
            seed: a number, from which the environments count on; one for each; or None, after which each goes on
                with a sequence that follows from its last seed.
            options: for the designs.

        Raises:
            UsageError: seeds or mask are none.
            WorkerFault: a design fails in its reset. All others are reset; that one is again by the next reset, or
                by the next step where there is an autoreset.
        """
        options = None if options is None else dict(options)
        mask = mask_of(None if options is None else options.pop("reset_mask", None), self.num_envs)
        if not self._begun and not mask.all():
            raise gym.error.ResetNeeded("no episode has begun: the first reset must be of all environments")
        positions = np.flatnonzero(mask).tolist()
        seeds = spread(seed, self.num_envs)
        if isinstance(seed, (int, np.integer)):
            super().reset(seed=int(seed))
        outcome = self._crew.turn(
            Plan(None, self._drawn(positions, seeds), options, only=None if mask.all() else positions)
        )
        self._clock.begin(positions)
        self._over = sorted({*self._over} - {*positions} | outcome.faults.keys())
        if outcome.faults:
            outcome.raise_first()
        self._begun = True
        return self._nest(outcome.columns), self._infos(outcome, {})

    def step(self, actions: Any) -> Stepped:
        """Take a step in each environment.

        Returns:
            Observations, batched as :attr:`observation_space` says; rewards (float64), terminations and truncations
            (bool) of shape (num_envs,); and infos in Gymnasium's vector form.

        Raises:
            UsageError: an action does not lie in the action space.
            ResetNeeded: no episode has begun, or one has ended and autoreset is disabled.
            WorkerFault: as told to by ``on_fault="raise"``.
        """
        if not self._begun:
            raise gym.error.ResetNeeded("no episode has begun: call reset() before step()")
        checked = self._checked(actions, self.num_envs)
        over = self._over
        if over and self.autoreset_mode is AutoresetMode.DISABLED:
            raise gym.error.ResetNeeded(
                f"the episodes of environments {over} are over: reset them with options={{'reset_mask': ...}}"
            )
        last = self._clock.tick()
        if over:
            last = [position for position in last if position not in over]
        resets = {position: self._seeds.next(position) for position in over}
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            plan = Plan(checked, resets, seeds=self._seeds.upcoming(), last=last)
        else:
            plan = Plan(checked, resets)
        outcome = self._crew.turn(plan)
        if last:
            outcome.truncated[last] = outcome.over = True
        if over:
            self._clock.begin(over)
        return self._stepped(outcome)

    def _stepped(self, outcome: Outcome) -> Stepped:
        self._over = outcome.ended()
        if not outcome.over:  # then nothing failed, and no episode has begun
            infos = vectors.vector_infos(self.num_envs, outcome.groups, outcome.infos)
            return self._nest(outcome.columns), outcome.rewards, outcome.terminated, outcome.truncated, infos
        faults = {at: _named(fault) for at, fault in outcome.faults.items()}
        if faults and self._on_fault == "raise":
            outcome.raise_first()
        finals = outcome.finals
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            for position in finals:
                self._seeds.next(position)
            if faults:
                finals, faults = self._begun_again(outcome, faults)
            if finals:
                self._clock.begin(list(finals))
                self._over = [position for position in self._over if position not in finals]
        infos = self._infos(outcome, faults, finals)
        return self._nest(outcome.columns), outcome.rewards, outcome.terminated, outcome.truncated, infos

    def _begun_again(self, outcome: Outcome, faults: dict[int, Any]) -> tuple[dict[int, Any], dict[int, Any]]:
        """Begin an episode in environments that failed, as their autoreset would have. Returns finals and faults."""
        space = self.single_observation_space
        finals = {at: (row_of(space, outcome.columns, at), said) for at, said in faults.items()}
        second = self._crew.turn(Plan(None, self._drawn(list(faults)), only=list(faults)))
        for position in finals.keys() - second.faults.keys():
            for column, found in zip(outcome.columns, second.columns, strict=True):
                column[position] = found[position]
        outcome.infos.update(second.infos_of(at for at in faults if at not in second.faults))
        failed = {at: faults[at] for at in second.faults}
        return outcome.finals | {at: finals[at] for at in faults if at not in failed}, failed

    def _drawn(self, positions: Collection[int], seeds: Sequence[int | None] | None = None) -> dict[int, int]:
        """Return the seeds of environments that are reset: given ones, or what follows from the last."""
        if seeds is None:
            return {at: self._seeds.next(at) for at in positions}
        return {
            at: self._seeds.next(at) if (seed := seeds[at]) is None else self._seeds.given(at, seed)
            for at in positions
        }

    def _infos(
        self, outcome: Outcome, faults: dict[int, Any], finals: dict[int, Any] | None = None
    ) -> dict[str, Any]:
        count = self.num_envs
        infos = vectors.vector_infos(count, outcome.groups, outcome.infos | faults)
        if finals:
            vectors.put(infos, "final_obs", count, {at: final[0] for at, final in finals.items()}, whole=True)
            vectors.put(infos, "final_info", count, {at: final[1] for at, final in finals.items()})
        return infos

    def snapshot(self, environments: Sequence[int] | None = None) -> list[Snapshot]:
        """Return the episodes of some environments, or of all, as what it takes to play them again.

        Raises:
            UsageError: one of them has no episode that can be played again.
        """
        return [self._crew.snapshot(at) for at in self._positions(environments)]

    def restore(
        self, snapshots: Sequence[Snapshot], environments: Sequence[int] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Return to the states of snapshots, one for each of the environments, or of all. The others stay as they are.

        Returns observations of all, and the infos of those that were restored.

        Raises:
            UsageError: a snapshot is of another design, or of one with other arguments.
            WorkerFault: a design fails, or does not repeat its episode; all others are restored.
        """
        positions = self._positions(environments)
        if len(snapshots) != len(positions):
            raise UsageError(f"{len(snapshots)} snapshots for {len(positions)} environments")
        chosen = dict(zip(positions, snapshots, strict=True))
        outcome = self._crew.restore(chosen)
        self._clock.begin(positions, [len(one.actions) for one in snapshots])
        ended = outcome.ended()
        timed = {*self._clock.over()} & {*positions}
        self._over = sorted({*self._over} - {*positions} | {*ended} | timed)
        if outcome.faults:
            outcome.raise_first()
        self._begun = self._begun or len(chosen) == self.num_envs
        return self._nest(outcome.columns), self._infos(outcome, {})

    def fork(self, environment: int, into: Sequence[int] | None = None) -> tuple[Any, dict[str, Any]]:
        """Bring environments, or all others, to the state of one."""
        targets = [at for at in self._positions(into) if at != environment]
        return self.restore([self._crew.snapshot(environment)] * len(targets), targets)

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Return what ``render``, ``hint`` or ``expert_action`` of each environment returns.

        Raises:
            UsageError: it is none of these, or it was given arguments.
            WorkerFault: a design fails.
        """
        if name not in CALLS or args or kwargs:
            raise UsageError(
                f"{name!r} cannot be called; what can be, without arguments, is {', '.join(CALLS)}"
            )
        if not self._begun:
            raise gym.error.ResetNeeded(f"no episode has begun: call reset() before {name}")
        found = self._crew.call(name, range(self.num_envs))
        if name == "render":
            return tuple(self._text(at) if found[at] is None else found[at] for at in range(self.num_envs))
        return tuple(found[at] for at in range(self.num_envs))

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Return what :meth:`call` does."""
        return self.call(name)

    def set_attr(self, name: str, values: Any) -> None:  # noqa: ARG002
        """Refuse to: nothing of an isolated environment can be set."""
        raise UsageError(f"{name!r} cannot be set: give arguments to the constructor")

    def render(self) -> tuple[str, ...] | None:
        """Return each environment's state as text where ``render_mode`` is ``"ansi"``, else None."""
        return None if self.render_mode is None else self.call("render")

    def _text(self, position: int) -> str:
        return str(row_of(self.single_observation_space, self._crew.last, position))

    def _positions(self, environments: Sequence[int] | None) -> list[int]:
        chosen = list(range(self.num_envs)) if environments is None else [int(at) for at in environments]
        if len(set(chosen)) != len(chosen) or any(not 0 <= at < self.num_envs for at in chosen):
            raise UsageError(
                f"environments are numbers from 0 to {self.num_envs - 1}, each once: found {chosen}"
            )
        return chosen

    def close_extras(self, **kwargs: Any) -> None:  # noqa: ARG002
        """End the workers."""
        self._crew.close()


def _named(fault: WorkerFault) -> dict[str, Any]:
    return {"worker_restarted": True, "fault": f"{fault.kind}: {fault}"}
