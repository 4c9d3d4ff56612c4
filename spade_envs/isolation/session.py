"""The worker's side: one design and its instances, and how each request of the host's is carried out.

All that is the design's runs here: compiling, building, every call, and the texts of its errors. The host
believes nothing that this side says; what is checked here is checked for the sake of a good message.
"""

from __future__ import annotations

import gc
import inspect
import marshal
import mmap
import resource
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from spade_envs.contract import Rejection, ToolEnv, tool_schemas
from spade_envs.isolation import wire
from spade_envs.isolation.batch import Batch
from spade_envs.isolation.batch_requests import STEPS
from spade_envs.isolation.conform import OutsideError, checker
from spade_envs.isolation.instance import ContractError, Instance, Maker, has_render
from spade_envs.isolation.limits import Limits
from spade_envs.isolation.packing import MEMORY, OK, failure
from spade_envs.isolation.places import filler, lay_out, size_of
from spade_envs.isolation.spaces import SpaceError
from spade_envs.isolation.spaces import describe as describe_space
from spade_envs.language import compile_source

RESERVE_BYTES = 16 << 20
_COLLECTED_AFTER = 50_000  # objects: a step of many instances makes hundreds, all of them gone after it
BATCHED = frozenset({"turn", "replay", "call"})
"""Operations on all instances of a batch."""


@dataclass(frozen=True, slots=True)
class _Single:
    """An instance that is asked by itself, and what moves its observations to their places."""

    instance: Instance
    fill: Callable[[Any], Any] | None


class Session:
    """A design and its instances; :meth:`answer` takes the host's message and returns the reply.

    Args:
        limits: what replies must keep to.
        places: memory for the observations' arrays; without it they stand in the replies.
    """

    def __init__(self, limits: Limits, places: memoryview | None = None) -> None:
        self._limits = limits
        self._places = places
        self._placed = 0
        self._maker: Maker
        self._singles: dict[int, _Single] = {}
        self._batch: Batch | None = None
        # Address space is what a worker's memory is counted in: a page that nobody writes to costs no more than that.
        self._reserve: mmap.mmap | None = mmap.mmap(-1, RESERVE_BYTES, mmap.MAP_PRIVATE)
        self._operations: dict[str, Callable[..., Iterable[Any]]] = {
            "load": self._load,
            "make": self._make,
            "reset": self._reset,
            **{name: partial(self._call, name) for name in ("render", "hint", "expert_action")},
            "advance": self._advance,
            "memory": self._memory,
            "open": self._open,
            "printed": lambda index: [self._singles[index].instance.program.printed()],
            "close": self._close,
        }

    def answer(self, message: bytes) -> bytes:
        """Carry out what the host asks. Whatever the design raises becomes a reply."""
        try:
            if message[:7] == STEPS[:7] and self._batch is not None:
                return self._batch.steps(message)
            operation, *arguments = wire.read(message)
            if operation == "step":
                reply = wire.encode_step(self._step(*arguments))
            elif operation in BATCHED:
                return getattr(self._batch, operation)(*arguments)  # type: ignore[no-any-return]
            else:
                reply = wire.encode([OK, *self._operations[operation](*arguments)])
            if len(reply) > self._limits.message_bytes:
                raise ContractError(
                    f"the result has {len(reply):,} bytes; at most {self._limits.message_bytes:,} leave a worker"
                )
        except MemoryError:
            # The reserve goes first: without it there is no memory for saying that there is none.
            self._reserve = None
            self._singles.clear()
            self._batch = None
            return wire.encode([MEMORY, "the design used up its memory"])
        except Exception as error:
            return self.complain(error)
        return reply

    def complain(self, error: BaseException) -> bytes:
        """Return the reply that says what the design raised, and in which line."""
        return wire.encode([*failure(error)])

    def _load(self, source: str, code: bytes | None) -> list[Any]:
        """Compile a source, or take the code that a worker made of it before."""
        if code is None:
            compiled = compile_source(source)
            if isinstance(compiled, Rejection):
                return [None, [finding.as_dict() for finding in compiled.findings], None]
            code = marshal.dumps(
                (compiled.class_name, compiled.code, compiled.uses and compiled.uses.as_plain())
            )
        self._maker = Maker(code)
        class_name = self._maker.class_name
        return [class_name, [], code]

    def _make(self, arguments: dict[str, Any]) -> list[Any]:
        instance = self._maker.alone(arguments)
        index = max(self._singles, default=-1) + 1
        description = instance.run(_description, instance.environment)
        description["places"], fill = self._place(instance.environment.observation_space)
        self._singles[index] = _Single(instance, fill)
        return [index, description]

    def _open(self, arguments: list[dict[str, Any]], built: bool, watch: bool) -> list[Any]:
        """Begin a batch of instances; describe the first where all are to be built now."""
        gc.set_threshold(_COLLECTED_AFTER)
        self._batch = Batch(arguments, self._maker.together, watch, self._places, self._limits.message_bytes)
        if not built:
            return [None]
        first = self._batch.build_all()
        return [first.run(_description, first.environment)]

    def _call(self, name: str, index: int) -> list[Any]:
        instance = self._singles[index].instance
        return [instance.run(getattr(instance.environment, name))]

    def _place(self, space: Any) -> tuple[int | None, Callable[[Any], Any] | None]:
        """Return where observations of a space begin in the memory, and what moves them there."""
        start, size = self._placed, size_of(space)
        if self._places is None or size == 0 or start + size > len(self._places):
            return None, None
        self._placed += size
        return start, filler(lay_out(space, self._places, start))

    def _reset(self, index: int, seed: int | None, options: dict[str, Any] | None) -> tuple[Any, ...]:
        single = self._singles[index]
        observation, info = single.instance.reset(seed, options)
        return observation if single.fill is None else single.fill(observation), info

    def _advance(self, index: int, moves: list[Any] | int, watch: bool) -> list[Any]:
        """Take steps until the episode ends: given ones, or so many of the expert's. Returns the turns."""
        turns: list[Any] = []
        for move in moves if isinstance(moves, list) else range(moves):
            action = move if isinstance(moves, list) else self._experts_move(index)
            result = self._singles[index].instance.step(action)
            over = bool(result[2] or result[3])
            turns.append([action, *result, self._view(index) if watch and not over else None])
            turns[-1] = wire.read(wire.encode(turns[-1]))  # the next step may change what this one returned
            if over:
                break
        return [turns]

    def _experts_move(self, index: int) -> Any:
        """Return the expert's action as the host would have sent it."""
        (action,) = wire.read(wire.encode(self._call("expert_action", index)))
        environment = self._singles[index].instance.environment
        if isinstance(environment, ToolEnv):
            return action
        try:
            return checker(environment.action_space)(action)
        except OutsideError as error:
            raise ContractError(f"expert_action: {error}") from None

    def _view(self, index: int) -> list[Any]:
        """Return the state's text, where the design renders it, and the hint."""
        kind = type(self._singles[index].instance.environment)
        text = self._call("render", index) if has_render(kind) else [None]
        return [*text, *self._call("hint", index)]

    def _memory(self) -> list[int]:
        """Return the blocks of memory that live, and the most megabytes that were resident."""
        gc.collect()
        return [sys.getallocatedblocks(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10]

    def _close(self, index: int) -> list[Any]:
        instance = self._singles.pop(index).instance
        instance.run(instance.environment.close)
        return [None]

    def _step(self, index: int, action: Any) -> tuple[Any, ...]:
        single = self._singles[index]
        result = single.instance.step(action)
        return result if single.fill is None else (single.fill(result[0]), *result[1:])


def _description(environment: Any) -> dict[str, Any]:
    kind = type(environment)
    names = getattr(environment, "action_names", None)
    return {
        "observation_space": _described_space(environment, "observation_space"),
        "action_space": _described_space(environment, "action_space"),
        "rules": inspect.cleandoc(kind.__doc__ or ""),
        "action_names": None if names is None else list(names),
        "tools": tool_schemas(type(environment)) if isinstance(environment, ToolEnv) else [],
        "render_fps": dict(getattr(environment, "metadata", None) or {}).get("render_fps"),
        "has_render": has_render(kind),
    }


def _described_space(environment: Any, name: str) -> list[Any]:
    space = getattr(environment, name, None)
    if space is None:
        raise ContractError(f"the constructor does not set self.{name}")
    try:
        return describe_space(space)
    except SpaceError as error:
        raise SpaceError(f"{name}: {error}") from None
