"""Many episodes of text at once, for rollouts of language models: the text face of a vector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gymnasium import spaces
from gymnasium.vector.utils import batch_space

from spade_envs.errors import UsageError, WorkerFault
from spade_envs.isolation import Limits, WorkerPool
from spade_envs.isolation.columns import row_of
from spade_envs.spoken import UnreadableError
from spade_envs.text import OBSERVATION_LENGTH
from spade_envs.text_face import ActionFormat, TextFace
from spade_envs.vector.actions import ActionCheck
from spade_envs.vector.clock import limits_of
from spade_envs.vector.crew import Crew
from spade_envs.vector.members import members_of
from spade_envs.vector.outcome import Outcome
from spade_envs.vector.seeds import Seeds, spread
from spade_envs.vector.squad import Plan


class TextTurn(NamedTuple):
    """What a reply brought: as :meth:`spade_envs.TextEnv.step` returns it."""

    text: str
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]


class TextVector:
    """Environments with their text face, of which any number take a turn at once, with one message for each worker.

    Each says what :class:`~spade_envs.TextEnv` says of the same environment. An episode that is over stays so until
    it is reset. A fault is one environment's, as in :class:`~spade_envs.vector.IsolatedVectorEnv`.

    Args:
        source: the environment file's text, or several of equal spaces, which take turns.
        num_envs: how many environments.
        action_format: as for :class:`~spade_envs.TextEnv`.
        difficulty: a level for all of them, or several, which take turns likewise.
        limits: what each worker may use.
        pool: where workers come from, with the pool's own isolation and limits.
        workers: how many for each design; as many as are sensible where missing.
        **arguments: for the designs' constructors.

    Attributes:
        running: which environments have an episode that goes on.
    """

    def __init__(
        self,
        source: str | Sequence[str],
        num_envs: int | None = None,
        *,
        action_format: ActionFormat = "xml",
        difficulty: int | Sequence[int] | None = None,
        limits: Limits | None = None,
        pool: WorkerPool | None = None,
        workers: int | None = None,
        **arguments: Any,
    ) -> None:
        members, headers = members_of(source, num_envs, difficulty, arguments)
        self.num_envs = len(members)
        self._limits = limits_of(None, headers)
        pool = pool or WorkerPool(limits, spares=0)
        self._crew = Crew(members, pool.limits, pool, max(self._limits), watch=True, workers=workers)
        info = self._crew.infos[0]
        self._space = info.observation_space
        faces = {
            text: TextFace(action_format, own.action_space, own.action_names, own.rules, own.tools)
            for text, own in self._crew.declared().items()
        }
        self._faces = [faces[member.source] for member in members]
        batched = batch_space(info.action_space, self.num_envs)
        self._checked = ActionCheck(info.action_space, batched, bool(info.tools))
        self._seeds = Seeds(self.num_envs)
        self._turns, self._steps = [0] * self.num_envs, [0] * self.num_envs
        self.running: set[int] = set()

    def reset(
        self,
        seed: int | Sequence[int | None] | None = None,
        environments: Sequence[int] | None = None,
    ) -> dict[int, tuple[str, dict[str, Any]]]:
        """Begin episodes in some environments, or in all. Returns the first text and the info of each.

        Args:
            seed: a number, from which the environments count on; one for each of those that are reset; or None.
            environments: which are reset.

        Raises:
            WorkerFault: a design fails in its reset; all others are reset.
        """
        chosen = list(range(self.num_envs)) if environments is None else [int(at) for at in environments]
        seeds = dict(zip(chosen, spread(seed, len(chosen)), strict=True))
        resets = {
            at: self._seeds.next(at) if one is None else self._seeds.given(at, one)
            for at, one in seeds.items()
        }
        outcome = self._crew.turn(Plan(None, resets, only=chosen))
        for at in chosen:
            self._turns[at] = self._steps[at] = 0
        self.running = (self.running | {*chosen}) - outcome.faults.keys()
        for at, fault in outcome.faults.items():
            raise WorkerFault(fault.kind, f"environment {at}: {fault}")
        infos = outcome.infos_of(chosen)
        return {at: (self._text(outcome, at), infos[at]) for at in chosen}

    def step(self, replies: Mapping[int, str]) -> dict[int, TextTurn]:
        """Take agents' replies, by environment. A reply without a readable action changes nothing and costs a turn.

        Raises:
            UsageError: an environment has no episode that goes on.
        """
        turns: dict[int, TextTurn] = {}
        actions: dict[int, Any] = {}
        for at in replies:
            if at not in self.running:
                raise UsageError(f"environment {at} has no episode that goes on: reset it first")
        for at, reply in replies.items():
            self._turns[at] += 1
            try:
                actions[at] = self._faces[at].read(reply)
            except UnreadableError as error:
                info = {"invalid_action": True, "is_success": False}
                said = self._faces[at].unreadable(error)
                turns[at] = TextTurn(said, 0.0, False, self._turns[at] >= self._limits[at], info)
        if actions:
            turns.update(self._acted(actions))
        self.running -= {at for at, turn in turns.items() if turn.terminated or turn.truncated}
        return {at: turns[at] for at in replies}

    def _acted(self, actions: dict[int, Any]) -> dict[int, TextTurn]:
        asked = list(actions)
        outcome = self._crew.turn(Plan(self._checked.some(actions, self.num_envs), {}, only=asked))
        infos = outcome.infos_of(asked)
        turns = {}
        for at in asked:
            self._steps[at] += 1
            terminated = bool(outcome.terminated[at])
            late = self._turns[at] >= self._limits[at]
            truncated = bool(outcome.truncated[at]) or self._steps[at] >= self._limits[at]
            info, reward = infos[at], float(outcome.rewards[at])
            if at in outcome.faults:
                fault = outcome.faults[at]
                info = {"worker_restarted": True, "fault": f"{fault.kind}: {fault}"}
            truncated = truncated or (late and not terminated)
            turns[at] = TextTurn(
                self._text(outcome, at), reward, terminated, truncated, {"invalid_action": False, **info}
            )
        return turns

    def rules(self, environment: int) -> str:
        """Return what to do in an environment, and how to write an action."""
        return self._faces[environment].rules

    def tools(self, environment: int) -> list[dict[str, Any]]:
        """Return an environment's function schemas."""
        return self._faces[environment].tools

    def hints(self, environments: Sequence[int]) -> dict[int, str]:
        """Return privileged help for the present episodes."""
        return self._crew.call("hint", environments)

    def expert_texts(self, environments: Sequence[int]) -> dict[int, str]:
        """Return what an expert would write in the present states."""
        found = self._crew.call("expert_action", environments)
        return {at: self._faces[at].format_action(action) for at, action in found.items()}

    def close(self) -> None:
        """End the workers. Safe to call again."""
        self._crew.close()

    def _text(self, outcome: Outcome, at: int) -> str:
        observation = row_of(self._space, outcome.columns, at)
        if isinstance(self._space, spaces.Text):
            text = observation
        elif at in outcome.faults:
            text = f"The episode was stopped: {outcome.faults[at].kind}: {outcome.faults[at]}"
        else:
            view = outcome.views.get(at)
            text = str(observation) if view is None else view
        return str(text)[:OBSERVATION_LENGTH]
