"""The host's side of a batch: one worker with many instances of a design, asked all at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from spade_envs.errors import UsageError, WorkerFault
from spade_envs.isolation import batch_wire, wire
from spade_envs.isolation.batch_requests import Turn, steps_message, turn_message
from spade_envs.isolation.batch_results import Reader, ReplyError, Results, values_of
from spade_envs.isolation.channel import Patience
from spade_envs.isolation.conform import OutsideError, checker
from spade_envs.isolation.description import DeclarationError, InstanceInfo, instance_info
from spade_envs.isolation.host import Worker
from spade_envs.isolation.limits import Limits
from spade_envs.isolation.results import text_of, tool_call
from spade_envs.isolation.spaces import SpaceError

_SLACK_S = 0.25  # beyond what a replay is given, so that it can say itself for whom there was no time


class BatchWorker:
    """A worker with a batch of instances. Where a method raises WorkerFault, the worker is gone, and all are lost.

    Args:
        worker: one that holds the compiled design.
        limits: those of the worker.
        arguments: for the constructor of each instance.
        watch: whether what the instances render is wanted with each step.
    """

    def __init__(
        self, worker: Worker, limits: Limits, arguments: Sequence[dict[str, Any]], watch: bool
    ) -> None:
        self._worker, self._channel, self._limits = worker, worker.channel, limits
        self._arguments, self._watch = list(arguments), watch
        places = self._channel.places
        self._at = None if places is None else places[:8].cast("Q")
        self._patience: dict[tuple[float, int], Patience] = {}
        self._asked, self._each = 0, limits.call_s

    def begin_building(self, built: bool) -> None:
        """Have the instances built now, or later, each when it is first reset."""
        self._post("open", self._arguments, built, self._watch)

    def built(self) -> InstanceInfo | None:
        """Return what the first instance declares, where they were to be built."""
        count = len(self._arguments)
        data = self._channel.collect(self._waited(self._limits.build_s, count), "__init__")
        try:
            (description,) = self._worker.values("__init__", 1, data)
            return None if description is None else instance_info(0, description)
        except (SpaceError, DeclarationError) as error:
            self._refuse(f"__init__: {error}", "contract")
        except (TypeError, KeyError, ValueError):
            self._refuse("__init__: a malformed description")
        except WorkerFault as fault:
            self._refuse(str(fault), fault.kind)

    def agree(self, info: InstanceInfo) -> None:
        """Take the spaces that hold for all instances; needed before anything else is asked."""
        self._reader = Reader(info.observation_space, len(self._arguments), self._channel.places)
        self._expert: Callable[[Any], Any] = tool_call if info.tools else checker(info.action_space)

    @property
    def alive(self) -> bool:
        """Whether the worker can be asked."""
        return self._worker.alive

    def row_at_work(self) -> int | None:
        """Return which row the worker says it is or was at; None where that cannot be seen."""
        return None if self._at is None else int(self._at[0])

    def steps(self, actions: np.ndarray, seeds: np.ndarray | None) -> Results:
        """Let all instances take a step, and return what came of it.

        With seeds an episode that ends is followed by the next at once.

        Raises:
            UsageError: the actions cannot travel.
        """
        self._asked, self._each = len(self._arguments), self._limits.call_s
        self._channel.post(self._short(steps_message(actions, seeds)), "step")
        return self.answer()

    def message(self, turn: Turn) -> bytes:
        """Return the message that asks for a turn.

        Raises:
            UsageError: something in it cannot travel.
        """
        return self._short(turn_message(turn) or self._encoded("turn", *turn))

    def _short(self, message: bytes) -> bytes:
        if len(message) > self._limits.message_bytes:
            raise UsageError(
                f"actions and options of {len(message):,} bytes are too long to send to a worker"
            )
        return message

    def ask(self, turn: Turn, message: bytes) -> None:
        """Ask for a turn; :meth:`answer` has what comes of it."""
        self._asked = len(self._arguments) if turn.positions is None else len(turn.positions)
        self._each = self._limits.call_s + (self._limits.build_s if turn.resets else 0.0)
        self._channel.post(message, "step")

    def answer(self) -> Results:
        """Return what came of the turn."""
        return self._results("step", self._waited(self._each, self._asked))

    def replay(self, episodes: Sequence[Any], seconds: float) -> Results:
        """Play episodes again, see :meth:`spade_envs.isolation.batch.Batch.replay`; rewards are their sums."""
        self._asked = len(episodes)
        self._post("replay", list(episodes), seconds)
        return self._results("replay", Patience(seconds + _SLACK_S, 0, self._progress()))

    def call(self, name: str, positions: Sequence[int]) -> list[Any]:
        """Return what a method (render, hint, expert_action) of each instance returns, or its fault."""
        self._asked = len(positions)
        self._post("call", name, list(positions))
        reply = self._reply(name, self._waited(self._limits.call_s, self._asked))
        said = dict(reply.odd)
        if sorted(said) != list(range(self._asked)):
            self._refuse(f"{name}: answers to something that was not asked")
        return [self._said(name, said[row]) for row in range(self._asked)]

    def _said(self, name: str, data: bytes) -> Any:
        try:
            (value,) = values_of(data, 1)
            if name == "expert_action":
                return self._expert(value)
            return None if value is None and name == "render" else text_of(name, value)
        except OutsideError as error:
            return WorkerFault("contract", f"{name}: {error}")
        except WorkerFault as fault:
            return fault
        except ReplyError as error:
            self._refuse(f"{name}: {error}")

    def close(self) -> None:
        """End the worker. Safe to call again."""
        self.__dict__.pop("_reader", None)  # what is known of its memory keeps that open
        self._at = None
        self._patience.clear()
        self._worker.close()

    def _post(self, operation: str, *arguments: Any) -> None:
        self._channel.post(self._encoded(operation, *arguments), operation)

    def _encoded(self, operation: str, *arguments: Any) -> bytes:
        try:
            return wire.encode([operation, *arguments])
        except wire.WireError as error:
            raise UsageError(f"{operation}: {error} cannot be sent to a worker") from None

    def _waited(self, each: float, count: int) -> Patience:
        key = each, count
        if key not in self._patience:
            self._patience = {key: Patience(each, count, self._progress())}
        return self._patience[key]

    def _progress(self) -> Callable[[], int] | None:
        at = self._at
        return None if at is None else lambda: at[0]

    def _reply(self, call: str, patience: Patience) -> batch_wire.Reply:
        data = self._channel.collect(patience, call)
        reply = batch_wire.decode(data)
        if reply is None:
            try:
                self._worker.values(call, 0, data)
            except WorkerFault as fault:
                self._refuse(str(fault), fault.kind)
            self._refuse(f"{call}: a reply that cannot be read")
        return reply

    def _results(self, call: str, patience: Patience) -> Results:
        reply = self._reply(call, patience)
        try:
            return self._reader.results(reply, self._asked, call)
        except ReplyError as error:
            self._refuse(f"{call}: {error}")

    def _refuse(self, message: str, kind: str = "protocol") -> NoReturn:
        self._worker.close()
        raise WorkerFault(kind, message)
