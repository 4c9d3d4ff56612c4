"""The worker's side of many instances that are asked at once: one message for a step of them all."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from spade_envs.isolation import wire
from spade_envs.isolation.batch_requests import FOLLOWED, STEPS
from spade_envs.isolation.batch_wire import MOST_ROWS
from spade_envs.isolation.columns import Block, block_bytes
from spade_envs.isolation.filling import Filler
from spade_envs.isolation.instance import STEP_RULE, ContractError, Instance, parts
from spade_envs.isolation.packing import OK, Packing
from spade_envs.isolation.spaces import describe, kind_of


class Batch:
    """Instances of one design, each built when it is first needed.

    The number of the row at work stands in the memory's first bytes: where the worker is lost, the host knows whose
    fault it was.

    Args:
        arguments: for the constructor of each instance.
        build: makes an instance.
        watch: whether what an instance renders is wanted with each step.
        places: the memory shared with the host; without it results travel in the reply.
        most: bytes of the longest reply.
    """

    def __init__(
        self,
        arguments: list[dict[str, Any]],
        build: Callable[[dict[str, Any]], Instance],
        watch: bool,
        places: memoryview | None,
        most: int,
    ) -> None:
        if len(arguments) > MOST_ROWS:
            raise ContractError(f"{len(arguments):,} instances of one worker; at most {MOST_ROWS:,}")
        self._arguments, self._build, self._watch, self._most = arguments, build, watch, most
        self._instances: list[Instance | None] = [None] * len(arguments)
        self._all = range(len(arguments))
        self._shared, self._own = places, bytearray()
        self._at = memoryview(bytearray(8) if places is None else places)[:8].cast("Q")
        self._spaces: bytes | None = None
        self._filler: Filler | None = None
        self._numbers = False

    def build_all(self) -> Instance:
        """Build every instance and return the first.

        Raises:
            ContractError: one declares other spaces than the first.
        """
        for position in range(len(self._arguments)):
            self._at[0] = position
            self.instance(position)
        return self.instance(0)

    def instance(self, position: int) -> Instance:
        """Return an instance, built where it is not there."""
        found = self._instances[position]
        if found is None:
            found = self._build(self._arguments[position])
            self._agree(found)
            self._instances[position] = found
        return found

    def _agree(self, instance: Instance) -> None:
        """Lay the memory out for the first instance's spaces; all others must have the same."""
        space = instance.environment.observation_space
        declared = wire.encode([describe(space), describe(instance.environment.action_space)])
        if self._spaces is None:
            count = len(self._arguments)
            size = block_bytes(space, count)
            if self._shared is None:
                self._own = bytearray(size)
            elif size > len(self._shared):
                raise ContractError(
                    f"the observations of {count} instances take {size:,} bytes, and a worker has room for "
                    f"{len(self._shared):,}: use more workers"
                )
            block = Block(space, count, self._own if self._shared is None else self._shared)
            self._filler = Filler(space, block)
            self._actions = instance.environment.action_space
            self._numbers = kind_of(self._actions) is spaces.Discrete
            self._spaces = declared
        elif declared != self._spaces:
            raise ContractError("all instances must have the same spaces, and this one's are others")

    def turn(
        self,
        positions: list[int] | None,
        actions: Any,
        resets: dict[int, int],
        options: dict[str, Any] | None,
        anew: list[int],
        seeds: Any,
        last: list[int],
    ) -> bytes:
        """Let each instance take a step, or reset it where ``resets`` has a seed for its row.

        See :class:`spade_envs.isolation.batch_requests.Turn`.
        """
        asked = self._all if positions is None else positions
        moves = self._moves(actions) if len(resets) < len(asked) else ()
        following = np.frombuffer(seeds, np.int64).tolist() if type(seeds) is bytes else seeds
        packing = Packing(self._at)
        for row in anew:
            self._instances[asked[row]] = None
        results, at, instances = packing.results, self._at, self._instances
        for row, position in enumerate(asked):
            at[0] = row
            try:
                if row in resets:
                    observation, info = self.instance(position).reset(resets[row], options)
                    results.append((observation, 0.0, False, False, info))
                else:
                    instance = instances[position]
                    results.append(instance.run(instance.environment.step, moves[row]))  # type: ignore[union-attr]
            except MemoryError:
                raise
            except BaseException as error:  # SystemExit and its like are the design's too
                results.append(None)
                self._failed(packing, row, position, error, "reset" if row in resets else "step")
        self._completed(packing, asked)
        if following is not None:
            self._followed(packing, asked, following, last)
        return self._reply(packing, asked)

    def steps(self, message: bytes) -> bytes:
        """Let every instance take a step: :meth:`turn` in its usual form."""
        actions, seeds = memoryview(message)[len(STEPS) :], None
        if message.startswith(FOLLOWED):
            end = len(actions) - 8 * len(self._instances)
            actions, seeds = actions[:end], actions[end:].cast("q").tolist()
        packing = Packing(self._at)
        add, at = packing.results.append, self._at
        for row, (instance, move) in enumerate(zip(self._instances, self._moves(actions), strict=True)):
            at[0] = row
            try:
                add(instance.run(instance.environment.step, move))  # type: ignore[union-attr]
            except MemoryError:
                raise
            except BaseException as error:
                add(None)
                self._failed(packing, row, row, error, "step")
        self._completed(packing, self._all)
        if seeds is not None:
            self._followed(packing, self._all, seeds, ())
        return self._reply(packing, self._all)

    def _completed(self, packing: Packing, asked: Sequence[int]) -> None:
        """See to it that each result is a tuple of five."""
        results = packing.results
        count = len(results)
        if list(map(type, results)).count(tuple) == count and list(map(len, results)).count(5) == count:  # type: ignore[arg-type]
            return
        for row, result in enumerate(results):
            if row not in packing.faults:
                try:
                    results[row] = parts(result, 5, STEP_RULE)
                except ContractError as error:
                    self._failed(packing, row, asked[row], error, "step")

    def _followed(
        self, packing: Packing, asked: Sequence[int], seeds: Sequence[int], last: Sequence[int]
    ) -> None:
        """Begin the next episode of each instance whose episode is over."""
        for row, result in enumerate(packing.results):
            if result is None or (result[2] is False is result[3] and row not in last):
                continue
            if row in last or _true(result[2]) or _true(result[3]):
                self._at[0] = row
                try:
                    packing.finals[row] = wire.encode([result[0], result[4]])
                    instance = self._instances[asked[row]]
                    observation, info = instance.reset(int(seeds[row]), None)  # type: ignore[union-attr]
                    packing.results[row] = (observation, *result[1:4], info)
                except MemoryError:
                    raise
                except BaseException as error:
                    self._failed(packing, row, asked[row], error, "step")

    def _moves(self, actions: Any) -> Sequence[Any]:
        """Return the actions as the contract has them; no two instances share an array's memory."""
        if type(actions) is bytes:
            actions = memoryview(actions)
        if type(actions) is memoryview:
            if self._numbers:
                return actions.cast("q").tolist()
            array = np.frombuffer(actions, self._actions.dtype)
            return list(map(np.array, array.reshape(-1, *self._actions.shape)))
        if type(actions) is np.ndarray:
            return actions.tolist() if self._numbers else list(map(np.array, actions))
        return actions or ()

    def _failed(self, packing: Packing, row: int, position: int, error: BaseException, call: str) -> None:
        packing.fail(row, error, call)
        self._instances[position] = None

    def replay(self, episodes: list[tuple[int, int, Any, list[Any]]], seconds: float) -> bytes:
        """Play episodes (position, seed, options, actions) again, each with an instance built anew where it is gone.

        The reply has the last observation of each and, in the place of rewards, the sums of all rewards. Those for
        which there was no time are named as undone.
        """
        end = time.monotonic() + seconds
        packing = Packing(self._at)
        for row, (position, *episode) in enumerate(episodes):
            self._at[0] = row
            packing.results.append(None)
            if time.monotonic() > end:
                packing.undone.append(row)
                continue
            try:
                packing.results[row] = self._replayed(position, *episode)
            except MemoryError:
                raise
            except BaseException as error:
                self._failed(packing, row, position, error, "replay")
        return self._reply(packing, [position for position, *_ in episodes])

    def _replayed(self, position: int, seed: int, options: Any, actions: list[Any]) -> tuple[Any, ...]:
        instance = self.instance(position)
        observation, info = instance.reset(seed, options)
        total, over = 0.0, [False, False]
        for action in self._moves(actions):
            observation, reward, *over, info = instance.step(action)
            total += float(reward)
        return observation, total, *over, info

    def call(self, name: str, positions: list[int]) -> bytes:
        """Return what a method of each instance returns."""
        packing = Packing(self._at)
        for row, position in enumerate(positions):
            self._at[0] = row
            try:
                instance = self._instances[position]
                value = instance.call(name)  # type: ignore[union-attr]
                packing.faults[row] = wire.encode([OK, value])
            except MemoryError:
                raise
            except BaseException as error:
                packing.fail(row, error, name)
        return packing.packed(None, b"", self._most)

    def _reply(self, packing: Packing, asked: Sequence[int]) -> bytes:
        if self._watch:
            self._look(packing, asked)
        return packing.packed(self._filler, self._own, self._most)

    def _look(self, packing: Packing, asked: Sequence[int]) -> None:
        """Note what each instance renders now."""
        packing.views = [None] * len(asked)
        for row, position in enumerate(asked):
            instance = self._instances[position]
            if packing.results[row] is not None and instance is not None:
                self._at[0] = row
                try:
                    packing.views[row] = instance.view()
                except MemoryError:
                    raise
                except BaseException as error:
                    self._failed(packing, row, position, error, "render")


def _true(flag: Any) -> bool:
    return flag is True or (type(flag) is np.bool_ and bool(flag))
