"""An episode played again, turn by turn, with what an agent reads: a report's, one of given actions, the expert's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Self

from gymnasium import spaces

from spade_envs.admission.evidence import Restart
from spade_envs.admission.report import gates_of
from spade_envs.contract import Rejection
from spade_envs.contract.plain import plain, to_json
from spade_envs.errors import UsageError, WorkerFault
from spade_envs.isolation import InstanceInfo, Worker
from spade_envs.spoken import UnreadableError, expected, read_action, write_action

_EXPERT = object()


@dataclass(frozen=True, slots=True)
class Recorded:
    """An episode as it stands in a report.

    Attributes:
        policy: who played.
        level: difficulty level, None where the design has none.
        seed: seed of the reset.
        actions: JSON data, in order, with :class:`Restart` where the instance was reset without a seed.
    """

    policy: str
    level: int | None
    seed: int
    actions: Sequence[Any]

    @classmethod
    def read(cls, data: Any) -> Self | None:
        """Return the episode that a gate has kept, None where that is none."""
        match data:
            case {
                "policy": str(policy),
                "level": int() | None as level,
                "seed": int(seed),
                "actions": list(actions),
            }:
                resets = policy.startswith("unseeded")
                mark = Restart.RESTART.value
                return cls(
                    policy, level, seed, [Restart.RESTART if resets and a == mark else a for a in actions]
                )
        return None


@dataclass(frozen=True, slots=True)
class Step:
    """What came of one action; the first step is the reset.

    Attributes:
        number: actions taken so far.
        action: as an agent writes it, None for a reset.
        text: what an agent reads then.
        observation: JSON data.
        reward: of this step.
        terminated: whether the design ended the episode.
        truncated: whether it was cut off.
        success: what the design says of the goal.
        fault: what stopped the worker, if anything did.
    """

    number: int
    action: str | None
    text: str
    observation: Any
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False
    success: bool = False
    fault: str | None = None

    @property
    def over(self) -> bool:
        """Whether the episode has ended."""
        return self.terminated or self.truncated or self.fault is not None


def episode_of(report: Mapping[str, Any], number: int) -> tuple[Recorded, Mapping[str, Any]]:
    """Return the episode behind a finding of a report, and the finding.

    Args:
        report: JSON data.
        number: of the finding, from 1, as they stand in the report.

    Raises:
        UsageError: there is no such finding, or its gate kept no episode.
    """
    found = [(gate, finding) for gate in gates_of(report) for finding in gate.get("findings") or ()]
    if not 1 <= number <= len(found):
        raise UsageError(f"the report has {len(found)} findings; there is no finding {number}")
    gate, finding = found[number - 1]
    recorded = Recorded.read((gate.get("saw") or {}).get("episode"))
    if recorded is None:
        raise UsageError(
            f"finding {number} [{finding.get('rule')}] was not seen in one episode: none is kept"
        )
    return recorded, finding


def replay(source: str, level: int | None, seed: int, actions: Iterable[Any] | None = None) -> Iterator[Step]:
    """Play an episode in a worker and yield what comes of each action, the reset first.

    Args:
        source: a design.
        level: difficulty level, None for a design that has none.
        seed: of the reset.
        actions: native or as JSON data; a text may also be the word for one. The expert's where missing.

    Raises:
        UsageError: the source is refused, or an action is none of the action space.
        WorkerFault: the design fails before the first action.
    """
    worker = Worker.start()
    try:
        loaded = worker.load(source)
        if isinstance(loaded, Rejection):
            raise UsageError(f"the source is refused:\n{loaded.text(source=source)}")
        info = worker.make(**({} if level is None else {"difficulty": level}))
        yield from _Stage(worker, info, loaded.header.max_episode_steps).episode(seed, actions)
    finally:
        worker.close()


@dataclass(frozen=True, slots=True)
class _Stage:
    """An instance in a worker, and the most steps that its episodes have."""

    worker: Worker
    info: InstanceInfo
    limit: int

    def episode(self, seed: int, actions: Iterable[Any] | None) -> Iterator[Step]:
        yield self._reset(0, seed)
        over = False
        for number, move in enumerate(repeat(_EXPERT) if actions is None else actions, 1):
            if move is Restart.RESTART:
                yield self._reset(number, None)
                over = False
            elif over:
                return
            else:
                yield (step := self._step(number, move))
                over = step.over

    def _reset(self, number: int, seed: int | None) -> Step:
        observation, _ = self.worker.reset(self.info.index, seed)
        return Step(number, None, self._text(observation), plain(observation))

    def _step(self, number: int, move: Any) -> Step:
        written = None
        try:
            action = (
                self.worker.expert_action(self.info.index) if move is _EXPERT else self._native(number, move)
            )
            written = write_action(action, self.info.action_space, self.info.action_names)
            observation, reward, terminated, truncated, info = self.worker.step(self.info.index, action)
            text = self._text(observation)
        except WorkerFault as fault:
            return Step(number, written, "", None, fault=f"{fault.kind}: {fault}")
        cut = truncated or (number >= self.limit and not terminated)
        success = bool(info.get("is_success"))
        return Step(number, written, text, plain(observation), reward, terminated, cut, success)

    def _native(self, number: int, move: Any) -> Any:
        """Return an action as the space has it."""
        space = self.info.action_space
        if self.info.tools or isinstance(space, spaces.Text):
            return move
        try:
            if isinstance(move, str):
                return read_action(move, space, self.info.action_names)
            return read_action(to_json(move), space)
        except UnreadableError as error:
            raise UsageError(
                f"action {number} is none of the action space: {error}; write"
                f" {expected(space, self.info.action_names)}"
            ) from None

    def _text(self, observation: Any) -> str:
        if isinstance(self.info.observation_space, spaces.Text):
            return str(observation)
        text = self.worker.render(self.info.index) if self.info.has_render else None
        return str(observation) if text is None else text
