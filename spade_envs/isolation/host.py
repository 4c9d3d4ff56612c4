"""The host's side of a worker: the only way by which anything of a design's reaches the rest of the program.

Each call goes out under a deadline, and each reply is checked against what was agreed when the instance was
made: observations lie in their space and have its types, rewards are finite, flags are bools. What comes
back is a copy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NoReturn, Self

import numpy as np
from gymnasium import spaces

from spade_envs.contract import Finding, Header, Rejection, parse_header
from spade_envs.errors import UsageError, WorkerFault
from spade_envs.isolation import code_cache, wire
from spade_envs.isolation.channel import Channel, LocalChannel
from spade_envs.isolation.conform import Checker, OutsideError, checker
from spade_envs.isolation.container import open_container
from spade_envs.isolation.fork_server import open_channel
from spade_envs.isolation.limits import Limits
from spade_envs.isolation.places import Tree, lay_out, size_of
from spade_envs.isolation.spaces import SpaceError, build
from spade_envs.isolation.worker import CONTRACT, MEMORY, OK, RAISED
from spade_envs.language import length_rejection

Isolation = Literal["process", "container", "none"]
RENDER_FPS = 4
"""Supplied where a design says nothing: Gymnasium wants a number."""
_CALLS = {"load": "compiling", "make": "__init__"}  # as messages name them; they have the time of a build


@dataclass(frozen=True, slots=True)
class Description:
    """A design that was compiled in a worker.

    Attributes:
        header: the source's header.
        class_name: name of the environment's class.
    """

    header: Header
    class_name: str


@dataclass(frozen=True, slots=True)
class InstanceInfo:
    """What an instance in a worker declares, checked and built anew in the host.

    Attributes:
        index: number by which the worker's methods know it.
        observation_space: the host's own space.
        action_space: the host's own space.
        rules: the class's docstring, dedented.
        action_names: words for the actions of a ``Discrete`` space, in order.
        tools: function schemas in OpenAI's form; empty unless the class is a ``ToolEnv``.
        metadata: ``render_modes`` and ``render_fps``, as Gymnasium wants them.
        has_render: whether the class defines ``render``.
    """

    index: int
    observation_space: spaces.Space[Any]
    action_space: spaces.Space[Any]
    rules: str
    action_names: tuple[str, ...] | None
    tools: list[dict[str, Any]]
    metadata: dict[str, Any]
    has_render: bool


@dataclass(frozen=True, slots=True)
class Turn:
    """One step of an episode and what came of it.

    Attributes:
        action: as the action space has it.
        observation: as the observation space has it.
        reward: finite.
        terminated: whether the design ended the episode.
        truncated: whether the design cut it off.
        info: what it said beside.
        view: the state's text (None where the design renders none) and hint, where they were asked for.
    """

    action: Any
    observation: Any
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]
    view: tuple[str | None, str] | None = None

    @property
    def over(self) -> bool:
        """Whether the episode ended here."""
        return self.terminated or self.truncated


@dataclass(frozen=True, slots=True)
class _Checks:
    observation: Checker
    action: Checker


class Worker:
    """One worker with one design and any number of its instances.

    Every method that asks the worker raises :class:`~spade_envs.errors.WorkerFault`. After the kinds
    ``"timeout"``, ``"memory"``, ``"died"`` and ``"protocol"`` the worker is gone; after ``"raised"`` (an
    exception of the design's) and ``"contract"`` (a result that breaks the contract) it lives. Not for use
    by two threads at once.

    What the process does not stop is said in :mod:`spade_envs.isolation.lockdown`.
    """

    def __init__(self, channel: Channel, limits: Limits) -> None:
        self._channel = channel
        self._limits = limits
        self._checks: dict[int, _Checks] = {}
        self._forked = not isinstance(channel, LocalChannel)
        self._used = False  # whether code of a design's has run in it

    @classmethod
    def start(
        cls, limits: Limits | None = None, hash_seed: int = 0, isolation: Isolation = "process"
    ) -> Self:
        """Start a worker.

        Args:
            limits: what it may use; :class:`Limits` as they stand where missing.
            hash_seed: ``PYTHONHASHSEED`` of the interpreter that it is forked from.
            isolation: ``"process"``; ``"container"`` for one under Bubblewrap, Podman or Docker; or ``"none"``
                for a design that is trusted: it then runs in this process, without limits or deadlines, under
                the same language and checks.

        Raises:
            IsolationError: this machine cannot start one.
            UsageError: there is no such isolation.
        """
        limits = limits or Limits()
        if isolation == "none":
            return cls(LocalChannel(limits), limits)
        if isolation == "process":
            return cls(open_channel(limits, hash_seed), limits)
        if isolation == "container":
            return cls(open_container(limits, hash_seed), limits)
        raise UsageError(f"isolation must be 'process', 'container' or 'none', found {isolation!r}")

    @property
    def alive(self) -> bool:
        """Whether the worker can be asked."""
        return self._channel.alive

    def load(self, source: str) -> Description | Rejection:
        """Compile a design in the worker, which keeps it for :meth:`make`; code that is known is not made again."""
        if (too_long := length_rejection(source)) is not None:
            return too_long
        known = code_cache.recall(source) if self._forked else None
        class_name, findings, code = self._ask("load", 3, source, known)
        header = parse_header(source)
        if type(class_name) is str and type(code) is bytes and not isinstance(header, Rejection):
            if self._forked and known is None and not self._used:
                code_cache.keep(source, code)
            return Description(header, class_name)
        try:
            return Rejection(tuple(_finding(data) for data in findings))
        except TypeError:
            self._refuse("compiling: malformed findings")

    def make(self, **arguments: Any) -> InstanceInfo:
        """Build an instance with ``render_mode="ansi"`` and the arguments, in a namespace of its own."""
        self._used = True
        index, data = self._ask("make", 2, arguments)
        try:
            info = _instance_info(index, data)
            places = self._laid_out(info.observation_space, data["places"])
        except (SpaceError, _ContractError) as error:
            raise WorkerFault("contract", f"__init__: {error}") from None
        except (TypeError, KeyError, ValueError):
            self._refuse("__init__: a malformed description")
        # A tool call may come as the parsed object, too.
        check_action = _tool_call if info.tools else checker(info.action_space)
        self._checks[index] = _Checks(checker(info.observation_space, places), check_action)
        return info

    def _laid_out(self, space: spaces.Space[Any], start: Any) -> Tree:
        """Return where the worker says that it leaves an instance's observations."""
        memory = self._channel.places
        if start is None:
            return None
        if memory is None or type(start) is not int or not 0 <= start <= len(memory) - size_of(space):
            raise TypeError
        return lay_out(space, memory, start)

    def reset(
        self, index: int, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode; without a seed the instance's generators go on. Returns observation and info."""
        observation, info = self._ask("reset", 2, index, None if seed is None else int(seed), options)
        return self._observation("reset", index, observation), _info("reset", info)

    def step(self, index: int, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take one step. Returns observation, reward, terminated, truncated, info.

        Raises:
            UsageError: the action does not lie in the action space.
        """
        action = self._action("step", index, action)
        data = self._send("step", index, action)
        result = wire.decode_step(data) or _unusual_step(self._values("step", 5, data))
        observation, reward, terminated, truncated, info = result
        if not math.isfinite(reward):
            raise _no_reward(reward)
        return self._observation("step", index, observation), reward, terminated, truncated, info

    def advance(self, index: int, moves: Sequence[Any] | int, *, watch: bool = False) -> list[Turn]:
        """Take many steps in one exchange, until the episode ends: given ones, or so many of the expert's.

        The time for all is that of one call and 5 ms for each step. A fault of any step is the fault of all:
        whoever wants to know which takes them singly.

        Args:
            index: the instance.
            moves: actions, or how often to do what the expert does.
            watch: whether each state's text and hint are wanted.

        Raises:
            UsageError: an action does not lie in the action space.
        """
        given = moves if isinstance(moves, int) else [self._action("advance", index, move) for move in moves]
        count = given if isinstance(given, int) else len(given)
        (turns,) = self._ask("advance", 1, index, given, watch, seconds=self._limits.call_s + 0.005 * count)
        if type(turns) is not list or any(type(turn) is not list or len(turn) != 7 for turn in turns):
            self._refuse("advance: malformed turns")
        return [self._turn(index, turn) for turn in turns]

    def _turn(self, index: int, values: list[Any]) -> Turn:
        action, *result, view = values
        try:
            action = self._checked("advance", index).action(action)
        except OutsideError as error:
            raise WorkerFault("contract", f"expert_action: {error}") from None
        observation, reward, terminated, truncated, info = _unusual_step(result)
        seen = None
        if view is not None:
            text, hint = view if type(view) is list and len(view) == 2 else self._refuse("advance: no view")
            seen = (_text("render", text, optional=True), _text("hint", hint) or "")
        observation = self._observation("step", index, observation)
        return Turn(action, observation, reward, terminated, truncated, info, seen)

    def memory(self) -> tuple[int, int]:
        """Return how many blocks of memory live in the worker, and the most megabytes that were resident."""
        blocks, peak = self._ask("memory", 2)
        if type(blocks) is not int or type(peak) is not int:
            self._refuse("memory: malformed numbers")
        return blocks, peak

    def render(self, index: int) -> str | None:
        """Return the state as text, or None where the design has none."""
        return _text("render", *self._ask("render", 1, index), optional=True)

    def hint(self, index: int) -> str:
        """Return the hint for the present episode."""
        return _text("hint", *self._ask("hint", 1, index)) or ""

    def expert_action(self, index: int) -> Any:
        """Return the reference policy's action in the present state, as the action space has it."""
        (action,) = self._ask("expert_action", 1, index)
        try:
            return self._checked("expert_action", index).action(action)
        except OutsideError as error:
            raise WorkerFault("contract", f"expert_action: {error}") from None

    def printed(self, index: int) -> str:
        """Return what the instance printed, as far as it was kept."""
        return str(*self._ask("printed", 1, index))

    def close_instance(self, index: int) -> None:
        """Close one instance and forget it."""
        del self._checks[index]
        self._ask("close", 1, index)

    def close(self) -> None:
        """End the worker, whatever it is doing. Safe to call again."""
        self._channel.close()
        self._checks.clear()  # what they know of its memory keeps that open

    def _checked(self, call: str, index: int) -> _Checks:
        try:
            return self._checks[index]
        except KeyError:
            gone = "there is no such instance" if self.alive else "the worker is gone"
            raise WorkerFault("closed", f"{call}: {gone}") from None

    def _action(self, call: str, index: int, action: Any) -> Any:
        try:
            return self._checked(call, index).action(action)
        except OutsideError as error:
            raise UsageError(f"the action is not in the action space: {error}") from None

    def _ask(self, operation: str, count: int, *arguments: Any, seconds: float | None = None) -> list[Any]:
        """Return the ``count`` values of the reply to an operation."""
        return self._values(operation, count, self._send(operation, *arguments, seconds=seconds))

    def _send(self, operation: str, *arguments: Any, seconds: float | None = None) -> bytes:
        try:
            message = wire.encode([operation, *arguments])
        except wire.WireError as error:
            raise UsageError(f"{operation}: {error} cannot be sent to a worker") from None
        if operation in _CALLS:
            return self._channel.exchange(message, self._limits.build_s, _CALLS[operation])
        return self._channel.exchange(message, seconds or self._limits.call_s, operation)

    def _values(self, operation: str, count: int, data: bytes) -> list[Any]:
        call = _CALLS.get(operation, operation)
        try:
            status, *values = wire.decode(data)
        except (wire.WireError, ValueError) as error:
            self._refuse(f"{call}: {error}")
        if type(status) is not str or status != OK or len(values) != count:
            self._fail(call, status, values)
        return values

    def _fail(self, call: str, status: Any, values: list[Any]) -> NoReturn:
        texts = all(type(value) is str for value in (status, *values))
        if not texts or len(values) != 1 or status not in (RAISED, CONTRACT, MEMORY):
            self._refuse(f"{call}: a malformed reply")
        if status == MEMORY:
            self.close()
        raise WorkerFault(status, f"{call}: {values[0]}")

    def _refuse(self, message: str) -> NoReturn:
        self.close()
        raise WorkerFault("protocol", message)

    def _observation(self, call: str, index: int, value: Any) -> Any:
        try:
            return self._checked(call, index).observation(value)
        except OutsideError as error:
            raise WorkerFault("contract", f"{call}: the observation is not in its space: {error}") from None


class _ContractError(Exception):
    """An instance declares something that the contract does not allow."""


def _finding(data: dict[str, Any]) -> Finding:
    finding = Finding(**{**data, "severity": "refuse"})
    texts = (finding.rule, finding.found, finding.remedy)
    numbers = (finding.line, finding.column)
    if all(type(text) is str for text in texts) and all(type(n) in (int, type(None)) for n in numbers):
        return finding
    raise TypeError


def _instance_info(index: Any, data: Any) -> InstanceInfo:
    if type(index) is not int or type(data) is not dict:
        raise TypeError
    if type(data["rules"]) is not str or type(data["has_render"]) is not bool:
        raise TypeError
    action_space = build(data["action_space"])
    return InstanceInfo(
        index=index,
        observation_space=build(data["observation_space"]),
        action_space=action_space,
        rules=data["rules"],
        action_names=_action_names(data["action_names"], action_space),
        tools=_tools(data["tools"]),
        metadata={"render_modes": ["ansi"], "render_fps": _fps(data["render_fps"])},
        has_render=data["has_render"],
    )


def _action_names(names: Any, space: spaces.Space[Any]) -> tuple[str, ...] | None:
    if names is None:
        return None
    if not isinstance(space, spaces.Discrete):
        raise _ContractError("action_names are for Discrete action spaces only")
    if len(names) != space.n or any(type(name) is not str for name in names):
        raise _ContractError(f"action_names must be {space.n} texts, one for each action")
    return tuple(names)


def _tools(tools: Any) -> list[dict[str, Any]]:
    if type(tools) is not list or any(type(tool) is not dict for tool in tools):
        raise TypeError
    return tools


def _fps(fps: Any) -> float:
    return fps if type(fps) in (int, float) and 0 < fps < math.inf else RENDER_FPS


def _tool_call(value: Any) -> Any:
    if isinstance(value, (str, dict, list)):
        return value
    raise OutsideError(f"{type(value).__name__} is no tool call: a JSON object is, as text or parsed")


def _text(call: str, text: Any, *, optional: bool = False) -> str | None:
    if isinstance(text, str) or (optional and text is None):
        return text
    raise WorkerFault("contract", f"{call}: it must return text, found {type(text).__name__}")


def _unusual_step(values: list[Any]) -> tuple[Any, float, bool, bool, dict[str, Any]]:
    """Return what a step said with NumPy's numbers, or with containers in its info."""
    observation, reward, terminated, truncated, info = values
    return (
        observation,
        _reward(reward),
        _flag("terminated", terminated),
        _flag("truncated", truncated),
        _info("step", info),
    )


def _reward(reward: Any) -> float:
    if isinstance(reward, (int, float, np.number, np.bool_)) and math.isfinite(reward):
        return float(reward)
    raise _no_reward(reward)


def _no_reward(reward: Any) -> WorkerFault:
    return WorkerFault("contract", f"step: the reward must be a finite float, found {_shown(reward)}")


def _flag(name: str, value: Any) -> bool:
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise WorkerFault("contract", f"step: {name} must be a bool, found {_shown(value)}")


def _info(call: str, info: Any) -> dict[str, Any]:
    if type(info) is dict:
        return info
    raise WorkerFault("contract", f"{call}: info must be a dict, found {type(info).__name__}")


def _shown(value: Any) -> str:
    return f"{type(value).__name__} {str(value)[:40]}"
