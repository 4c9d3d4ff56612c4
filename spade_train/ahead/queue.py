"""Orders on disk: what was asked for or written and not yet played comes back after a crash, and none twice.

``runs/<name>/ahead/<serial>.json`` is one order. A round that takes it writes its number into it; a run that goes on
before that round gives it back.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from spade_train.ahead.orders import Order, read_order, write_order
from spade_train.designer import DesignContext
from spade_train.rounds import Design


class Queue:
    """The orders of one run, for use by several threads.

    Args:
        folder: made with the first order.
        next_round: the round that comes next: orders that it or a later one took are not played yet.
    """

    def __init__(self, folder: Path, next_round: int) -> None:
        self._folder, self._lock = folder, threading.Lock()
        read = [read_order(path) for path in sorted(folder.glob("[0-9]*.json"))]
        self._orders = {order.serial: order for order in read if order is not None}
        self._serial = max((int(path.stem) for path in folder.glob("[0-9]*.json")), default=-1) + 1
        for order in list(self._orders.values()):
            if order.taken is not None and order.taken >= next_round:
                self._keep(replace(order, taken=None))

    @property
    def next_serial(self) -> int:
        """The serial of the next order."""
        return self._serial

    def open(self) -> list[Order]:
        """Return the orders that no round has taken, the oldest first."""
        with self._lock:
            return sorted((o for o in self._orders.values() if o.taken is None), key=lambda o: o.serial)

    def taken(self, number: int) -> list[Order]:
        """Return what this round has taken, the oldest first."""
        with self._lock:
            return sorted((o for o in self._orders.values() if o.taken == number), key=lambda o: o.serial)

    def add(self, context: DesignContext, seeds: Sequence[int]) -> Order:
        """Order designs."""
        with self._lock:
            self._folder.mkdir(exist_ok=True)
            order = Order(self._serial, context, tuple(seeds))
            self._serial += 1
        return self._keep(order)

    def written(self, serial: int, designs: Sequence[Design], context: DesignContext | None = None) -> Order:
        """Note what was written for an order, and what was told in the end; return it with that."""
        order = self._orders[serial]
        return self._keep(replace(order, designs=tuple(designs), context=context or order.context))

    def take(self, serial: int, number: int) -> None:
        """Note that a round plays it."""
        self._keep(replace(self._orders[serial], taken=number))

    def _keep(self, order: Order) -> Order:
        write_order(self._folder / f"{order.serial:06}.json", order)
        with self._lock:
            self._orders[order.serial] = order
        return order
