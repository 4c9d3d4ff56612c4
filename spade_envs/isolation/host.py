"""The host's side of a worker: the only way by which anything of a design's reaches the rest of the program.

Each call goes out under a deadline, and each reply is checked against what was agreed when the instance was
made: observations lie in their space and have its types, rewards are finite, flags are bools. What comes
back is a copy.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NoReturn, Self

from gymnasium import spaces

from spade_envs.contract import Rejection, parse_header
from spade_envs.errors import UsageError, WorkerFault
from spade_envs.isolation import code_cache, wire
from spade_envs.isolation.channel import Channel, LocalChannel
from spade_envs.isolation.conform import Checker, OutsideError, checker
from spade_envs.isolation.container import open_container
from spade_envs.isolation.description import (
    DeclarationError,
    Description,
    InstanceInfo,
    finding_of,
    instance_info,
)
from spade_envs.isolation.fork_server import open_channel
from spade_envs.isolation.limits import Limits
from spade_envs.isolation.packing import CONTRACT, MEMORY, OK, RAISED
from spade_envs.isolation.places import Tree, lay_out, size_of
from spade_envs.isolation.results import Turn, info_of, no_reward, text_of, tool_call, unusual_step
from spade_envs.isolation.spaces import SpaceError
from spade_envs.language import length_rejection

Isolation = Literal["process", "container", "none"]
_CALLS = {"load": "compiling", "make": "__init__"}  # as messages name them; they have the time of a build


@dataclass(frozen=True, slots=True)
class _Checks:
    observation: Checker
    action: Checker


_header = functools.lru_cache(maxsize=512)(parse_header)


class Worker:
    """One worker with one design and any number of its instances.

    Every method that asks the worker raises :class:`~spade_envs.errors.WorkerFault`. After the kinds
    ``"timeout"``, ``"memory"``, ``"died"`` and ``"protocol"`` the worker is gone; after ``"raised"`` (an
    exception of the design's) and ``"contract"`` (a result that breaks the contract) it lives. Not for use
    by two threads at once.

    What the process does not stop is said in :mod:`spade_envs.isolation.lockdown`.

    Attributes:
        used: whether code of a design's has run in it; compiling runs none.
    """

    def __init__(self, channel: Channel, limits: Limits) -> None:
        self._channel = channel
        self._limits = limits
        self._checks: dict[int, _Checks] = {}
        self._forked = not isinstance(channel, LocalChannel)
        self.used = False

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

    @property
    def channel(self) -> Channel:
        """The way to the worker."""
        return self._channel

    def load(self, source: str) -> Description | Rejection:
        """Compile a design in the worker, which keeps it for :meth:`make`; code that is known is not made again."""
        if (too_long := length_rejection(source)) is not None:
            return too_long
        known = code_cache.recall(source) if self._forked else None
        class_name, findings, code = self._ask("load", 3, source, known)
        header = _header(source)
        if type(class_name) is str and type(code) is bytes and not isinstance(header, Rejection):
            if self._forked and known is None and not self.used:
                code_cache.keep(source, code)
            return Description(header, class_name)
        try:
            return Rejection(tuple(finding_of(data) for data in findings))
        except TypeError:
            self._refuse("compiling: malformed findings")

    def make(self, **arguments: Any) -> InstanceInfo:
        """Build an instance with ``render_mode="ansi"`` and the arguments, in a namespace of its own."""
        self.used = True
        index, data = self._ask("make", 2, arguments)
        try:
            info = instance_info(index, data)
            places = self._laid_out(info.observation_space, data["places"])
        except (SpaceError, DeclarationError) as error:
            raise WorkerFault("contract", f"__init__: {error}") from None
        except (TypeError, KeyError, ValueError):
            self._refuse("__init__: a malformed description")
        # A tool call may come as the parsed object, too.
        check_action = tool_call if info.tools else checker(info.action_space)
        if index in self._checks:
            self._refuse("__init__: the number of an instance that there is already")
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
        return self._observation("reset", index, observation), info_of("reset", info)

    def step(self, index: int, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take one step. Returns observation, reward, terminated, truncated, info.

        Raises:
            UsageError: the action does not lie in the action space.
        """
        action = self._action("step", index, action)
        data = self._send("step", index, action)
        result = wire.decode_step(data) or unusual_step(self.values("step", 5, data))
        observation, reward, terminated, truncated, info = result
        if not math.isfinite(reward):
            raise no_reward(reward)
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
        if isinstance(moves, Sequence):
            given: Any = [self._action("advance", index, move) for move in moves]
            count = len(given)
        else:
            given = count = operator.index(moves)
        (turns,) = self._ask("advance", 1, index, given, watch, seconds=self._limits.call_s + 0.005 * count)
        if type(turns) is not list or any(type(turn) is not list or len(turn) != 7 for turn in turns):
            self._refuse("advance: malformed turns")
        if len(turns) > count or (given and not turns):
            self._refuse(f"advance: {len(turns)} turns for {count} moves")
        seen = [self._turn(index, turn) for turn in turns]
        if len(seen) < count and not (seen and seen[-1].over):
            self._refuse("advance: an episode that goes on without its last moves")
        return seen

    def _turn(self, index: int, values: list[Any]) -> Turn:
        action, *result, view = values
        action = self._experts("advance", index, action)
        observation, reward, terminated, truncated, info = unusual_step(result)
        observation = self._observation("step", index, observation)
        seen = None if view is None else self._view(view)
        return Turn(action, observation, reward, terminated, truncated, info, seen)

    def _view(self, view: Any) -> tuple[str | None, str]:
        if type(view) is not list or len(view) != 2:
            self._refuse("advance: no view")
        text, hint = view
        return None if text is None else text_of("render", text), text_of("hint", hint)

    def memory(self) -> tuple[int, int]:
        """Return how many blocks of memory live in the worker, and the most megabytes that were resident."""
        blocks, peak = self._ask("memory", 2)
        if type(blocks) is not int or type(peak) is not int:
            self._refuse("memory: malformed numbers")
        return blocks, peak

    def render(self, index: int) -> str | None:
        """Return the state as text, or None where the design has none."""
        (text,) = self._ask("render", 1, index)
        return None if text is None else text_of("render", text)

    def hint(self, index: int) -> str:
        """Return the hint for the present episode."""
        return text_of("hint", *self._ask("hint", 1, index))

    def expert_action(self, index: int) -> Any:
        """Return the reference policy's action in the present state, as the action space has it."""
        return self._experts("expert_action", index, *self._ask("expert_action", 1, index))

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

    def _experts(self, call: str, index: int, action: Any) -> Any:
        try:
            return self._checked(call, index).action(action)
        except OutsideError as error:
            raise WorkerFault("contract", f"expert_action: {error}") from None

    def _action(self, call: str, index: int, action: Any) -> Any:
        try:
            return self._checked(call, index).action(action)
        except OutsideError as error:
            raise UsageError(f"the action is not in the action space: {error}") from None

    def _ask(self, operation: str, count: int, *arguments: Any, seconds: float | None = None) -> list[Any]:
        """Return the ``count`` values of the reply to an operation."""
        return self.values(operation, count, self._send(operation, *arguments, seconds=seconds))

    def _send(self, operation: str, *arguments: Any, seconds: float | None = None) -> bytes:
        try:
            message = wire.encode([operation, *arguments])
        except wire.WireError as error:
            raise UsageError(f"{operation}: {error} cannot be sent to a worker") from None
        if operation in _CALLS:
            return self._channel.exchange(message, self._limits.build_s, _CALLS[operation])
        return self._channel.exchange(message, seconds or self._limits.call_s, operation)

    def values(self, operation: str, count: int, data: bytes) -> list[Any]:
        """Return the values of a reply; raise what it says where it is none."""
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
