"""The thread that lets orders be written and judged while the model trains.

It waits for servers and for the processes that judge; what it writes are orders' files alone. The registry grows in a
round, when its designs are settled, so that a run that goes back finds it as it was.
"""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import replace

from spade_envs.errors import SpadeError
from spade_train.ahead.orders import Order
from spade_train.ahead.queue import Queue
from spade_train.backends import Pending
from spade_train.workshop.judged import Judged
from spade_train.workshop.outside import Outside, written
from spade_train.workshop.workshop import Workshop

POLL = 5.0
"""Seconds between two looks for answers that come as files, and before a failure of this machine is tried again."""

TRIES = 3
"""How often designs are judged on a machine that cannot; then they are refused, and others have their turn."""

UNJUDGED = "this machine could not judge it; faults.jsonl says why"


class Studio:
    """Works through a queue in its own thread, the oldest order first.

    Args:
        workshop: where replies are read and judged.
        outside: whoever writes.
        queue: what is to be done.
        poll: seconds, see :data:`POLL`.
    """

    def __init__(self, workshop: Workshop, outside: Outside, queue: Queue, poll: float = POLL) -> None:
        self._workshop, self._outside, self._queue, self._poll = workshop, outside, queue, poll
        self._judged: dict[int, Judged] = {}
        self._vain: Counter[int] = Counter()
        self._problem: BaseException | None = None
        self._wake, self._closed = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._work, name="spade-studio", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Say that there is an order."""
        self._wake.set()

    def check(self) -> None:
        """Tell what has gone wrong since the last call; what was being done is tried again meanwhile.

        Raises:
            SpadeError, OSError: this machine could not do it.
        """
        problem, self._problem = self._problem, None
        if problem is not None:
            raise problem

    def judged(self, serial: int) -> Judged | None:
        """Return what became of an order; None until it is known."""
        return self._judged.get(serial)

    def forget(self, serial: int) -> None:
        """Let go of what became of an order that has been played."""
        self._judged.pop(serial, None)

    def close(self, seconds: float = 1.0) -> None:
        """End the thread, or leave it: a server may be slow, and it ends with the process at the latest."""
        self._closed.set()
        self._wake.set()
        self._thread.join(seconds)

    def _work(self) -> None:
        while not self._closed.is_set():
            self._wake.clear()
            try:
                done = [
                    self._tried(order) for order in self._queue.open() if order.serial not in self._judged
                ]
            except (
                BaseException
            ) as problem:  # a fault of the program's: who waits for designs must hear of it
                self._problem = problem
                return
            self._wake.wait(None if all(done) else self._poll)

    def _tried(self, order: Order) -> bool:
        """Do what can be done for an order; return whether that was all. One that fails does not hold up the next."""
        try:
            return self._advance(order)
        except (SpadeError, OSError) as problem:
            self._problem = problem
            self._vain[order.serial] += isinstance(problem, SpadeError)
            return False

    def _advance(self, order: Order) -> bool:
        if self._closed.is_set():
            return True
        if order.designs is None:
            context = self._workshop.prepared(None, order.context)
            answers = self._outside.answers(self._workshop.designer, context, order.seeds)
            if self._closed.is_set() or any(isinstance(one, Pending) for one in answers):
                return False
            order = self._queue.written(order.serial, [written(one) for one in answers], context)
        designs = order.designs or ()
        if self._vain[order.serial] >= TRIES:
            designs = tuple(replace(one, refusal=one.refusal or UNJUDGED) for one in designs)
        self._judged[order.serial] = self._workshop.judge(designs, order.context)
        return True
