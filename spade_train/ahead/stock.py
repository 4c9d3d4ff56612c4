"""What a round takes from designing that runs ahead, and what it orders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from spade_train.ahead.queue import Queue
from spade_train.ahead.studio import POLL, Studio
from spade_train.designer import DesignContext, Reason
from spade_train.rounds import Design, Stock
from spade_train.workshop.outside import Outside, seeds_of
from spade_train.workshop.workshop import Workshop


@dataclass
class Ahead:
    """Designing beside training, with a bounded stock.

    Attributes:
        folder: where orders are kept.
        limit: how many orders there may be that no round has played: whoever designs faster waits.
        rounds: of the run; nothing is ordered that no round would play.
        poll: seconds between two looks for answers that come as files.
        told: why the designer was told what it was told, of the designs that a round took last.
    """

    workshop: Workshop
    outside: Outside
    folder: Path
    limit: int
    rounds: int
    poll: float = POLL
    told: tuple[Reason, ...] = field(default=(), init=False)
    _queue: Queue | None = field(default=None, init=False)
    _studio: Studio | None = field(default=None, init=False)

    def round(
        self, number: int, count: int, context: Callable[[int], DesignContext]
    ) -> tuple[list[Design], Stock]:
        """Return the designs that this round plays, settled: ``count`` of them, or none where none are ready.

        It waits for nobody. Called again for the same round, it returns the same designs.

        Args:
            number: the round.
            count: how many designs an order is of.
            context: what the designer is told, by the order's serial.

        Raises:
            IsolationError, OSError: this machine could not judge or write what was ordered.
            RegistryError: the registry cannot be written.
        """
        queue, studio = self._begin(number)
        studio.check()
        designs = self._take(queue, studio, number)
        room = min(self.limit, self.rounds - number - 1) - len(queue.open())
        for _ in range(room):
            told = context(queue.next_serial)
            queue.add(told, seeds_of(told, str(queue.next_serial), count))
            studio.wake()
        ready = sum(studio.judged(order.serial) is not None for order in queue.open())
        return designs, Stock(len(designs), ready * count, (len(queue.open()) - ready) * count)

    def close(self) -> None:
        """Stop designing; what was ordered stays for the next time."""
        if self._studio is not None:
            self._studio.close()

    def _begin(self, number: int) -> tuple[Queue, Studio]:
        if self._queue is None or self._studio is None:
            self._queue = Queue(self.folder, number)
            self._studio = Studio(self.workshop, self.outside, self._queue, self.poll)
        return self._queue, self._studio

    def _take(self, queue: Queue, studio: Studio, number: int) -> list[Design]:
        """Settle what this round took before it failed, or else the oldest order that is ready."""
        for order in queue.taken(number - 1):
            studio.forget(order.serial)
        for order in [*queue.taken(number), *queue.open()]:
            if (judged := studio.judged(order.serial)) is not None:
                queue.take(order.serial, number)
                self.told = order.context.reasons
                return self.workshop.settle(judged)
        return []
