"""Where the time of a vector's step goes: ``python benchmarks/vector_parts.py [namespaces] [worker] [switches]``.

First what a namespace for each instance costs: bare instances stepped in a loop, without a worker. Then what the
worker's part of a step costs, warm. Then what it costs to come back: the host's part of a step alone, after an
exchange with a process that does nothing, and after a worker's. Microseconds of CPU, best of blocks that take turns.
"""

from __future__ import annotations

import marshal
import os
import sys
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from gymnasium.vector import SyncVectorEnv
from isolation import HEADER, NUMERIC, Floor
from vector import TEXT, plain_class

from spade_envs.contract import Rejection
from spade_envs.isolation import Limits, wire
from spade_envs.isolation.batch_requests import steps_message
from spade_envs.isolation.instance import Maker
from spade_envs.isolation.session import Session
from spade_envs.language import compile_source
from spade_envs.vector import IsolatedVectorEnv

BLOCKS, SWITCHED = 40, 100


def best(variants: dict[str, Callable[[], Any]], times: int) -> dict[str, float]:
    found: dict[str, list[float]] = {name: [] for name in variants}
    for _ in range(BLOCKS):
        for name, run in variants.items():
            begin = time.process_time()
            for _ in range(times):
                run()
            found[name].append(1e6 * (time.process_time() - begin) / times)
    return {name: min(values) for name, values in found.items()}


def namespaces() -> None:
    print("one step of an instance in a loop over all         plain class  own namespace  one for all")
    for title, source in (
        ("a box of 8 float32", HEADER + NUMERIC),
        ("a text of 90 characters", HEADER + TEXT),
    ):
        compiled = compile_source(source)
        assert not isinstance(compiled, Rejection)
        assert compiled.uses is not None
        maker = Maker(marshal.dumps((compiled.class_name, compiled.code, compiled.uses.as_plain())))
        for count in (1, 64, 256, 1024):
            sets = {
                "plain": plains(source, count),
                "own": [maker.alone({}).environment for _ in range(count)],
                "one": [maker.together({}).environment for _ in range(count)],
            }
            actions = np.random.default_rng(0).integers(0, 2, count).tolist()
            used = best({name: loop(those, actions) for name, those in sets.items()}, max(1, 1024 // count))
            each = "".join(f"{used[name] / count:14.2f}" for name in sets)
            print(f"  {title:28s} N = {count:5d}   {each}")


def plains(source: str, count: int) -> list[Any]:
    kind = plain_class(source)
    return [kind() for _ in range(count)]


def loop(environments: list[Any], actions: list[int]) -> Callable[[], None]:
    for seed, environment in enumerate(environments):
        environment.reset(seed=seed)

    def run() -> None:
        for environment, action in zip(environments, actions, strict=True):
            environment.step(action)

    return run


def switches() -> None:
    print("\nthe host's part of a step     alone  after an exchange  after a worker's step")
    for count in (1, 64):
        vector = IsolatedVectorEnv(HEADER + NUMERIC, count, workers=1)
        actions = np.zeros(count, int)
        vector.reset(seed=0)
        vector.step(actions)
        worker: Any = vector._crew._squads[0].worker
        channel = worker._channel
        reply = channel._mailbox.answered(channel._number)
        alone = SimpleNamespace(
            alive=True,
            post=lambda *_: None,
            collect=lambda *_, reply=reply: reply,
            close=channel.close,
            places=None,
        )
        floor = Floor()

        def step(through: Any, vector: Any = vector, worker: Any = worker, actions: Any = actions) -> None:
            worker._channel = through
            vector.step(actions)

        def exchanged(floor: Floor = floor, alone: Any = alone, step: Any = step) -> None:
            floor.step(0)
            step(alone)

        used = best(
            {
                "alone": lambda step=step, alone=alone: step(alone),  # type: ignore[misc]
                "exchange": lambda floor=floor: floor.step(0),  # type: ignore[misc]
                "exchanged": exchanged,
                "real": lambda step=step, channel=channel: step(channel),  # type: ignore[misc]
            },
            SWITCHED,
        )
        print(
            f"  N = {count:3d} {used['alone']:24.1f} {used['exchanged'] - used['exchange']:18.1f} {used['real']:22.1f}"
        )
        floor.close()
        worker._channel = channel
        vector.close()


def worker() -> None:
    """What the worker does for a step, in this process and warm, beside Gymnasium's whole step of as many."""
    print("\na step of a box of 8       the worker's part  Gymnasium's step")
    for count in (1, 8, 64):
        session = Session(Limits(), memoryview(bytearray(1 << 20)))
        for request in (
            ["load", HEADER + NUMERIC, None],
            ["open", [{}] * count, True, False],
            ["turn", None, None, {at: at for at in range(count)}, None, [], None, []],
        ):
            session.answer(wire.encode(request))
        actions = np.zeros(count, int)
        message = steps_message(actions, None)
        theirs = SyncVectorEnv([plain_class(HEADER + NUMERIC)] * count)
        theirs.reset(seed=0)
        used = best(
            {
                "ours": lambda session=session, message=message: session.answer(message),  # type: ignore[misc]
                "theirs": lambda theirs=theirs, actions=actions: theirs.step(actions),  # type: ignore[misc]
            },
            400 // count + 10,
        )
        print(f"  N = {count:3d} {used['ours']:30.1f} {used['theirs']:17.1f}")


def main() -> None:
    print(f"load {os.getloadavg()[0]:.1f}")
    parts = {"namespaces": namespaces, "worker": worker, "switches": switches}
    for name in sys.argv[1:] or parts:
        parts[name]()


if __name__ == "__main__":
    main()
