"""Threads for what waits for workers: a bounded number, so that a slow design never holds up another page."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from spade_envs.web.play.seats import NoRoom

Asked = ParamSpec("Asked")
Found = TypeVar("Found")
_BUSY = "this server plays as many games as it can this moment; try again in a few seconds"


class Threads:
    """Carries calls out beside the event loop.

    Args:
        count: how many at once.
        wait_s: seconds that a call waits for its turn.
        waiting: how many may wait.
    """

    def __init__(self, count: int, wait_s: float, waiting: int = 200) -> None:
        self._pool = ThreadPoolExecutor(count, "play")
        self._wait_s, self._most, self._asked = wait_s, count + waiting, 0

    async def run(self, call: Callable[Asked, Found], *arguments: Asked.args, **named: Asked.kwargs) -> Found:
        """Return what a call returns. Raises NoRoom where too many wait, or it waited for too long."""
        if self._asked >= self._most:
            raise NoRoom(_BUSY)
        until = time.monotonic() + self._wait_s

        def carried_out() -> Found:
            if time.monotonic() > until:
                raise NoRoom(_BUSY)
            return call(*arguments, **named)

        self._asked += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, carried_out)
        finally:
            self._asked -= 1

    def close(self) -> None:
        """Carry out what has begun, and nothing that waits."""
        self._pool.shutdown(wait=True, cancel_futures=True)
