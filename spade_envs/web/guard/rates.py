"""How often one address may ask: a bucket of requests that fills up again."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from spade_envs.web.settings import Rate

MOST_CLIENTS = 10_000
"""How many addresses are remembered."""


@dataclass(slots=True)
class Buckets:
    """One bucket an address, the longest unused forgotten first.

    Attributes:
        rate: how fast a bucket fills up, and how much it holds.
        clock: seconds.
    """

    rate: Rate
    clock: Callable[[], float] = time.monotonic
    _left: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)

    def wait(self, client: str) -> float:
        """Take one request out of an address's bucket; return 0, or how many seconds it has to wait instead."""
        now = self.clock()
        left, before = self._left.pop(client, (float(self.rate.burst), now))
        left = min(self.rate.burst, left + (now - before) * self.rate.per_second)
        allowed = left >= 1
        self._left[client] = (left - allowed, now)
        if len(self._left) > MOST_CLIENTS:
            self._left.popitem(last=False)
        return 0.0 if allowed else (1 - left) / self.rate.per_second
