"""Where a round's seconds go, and who is told that a phase begins."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

PHASES = ("design", "admit", "play", "train")


@dataclass
class Clock:
    """Seconds by phase, of wall time and of this process's CPU; ``begin`` is called with a phase's name."""

    begin: Callable[[str], None] = lambda _: None
    seconds: dict[str, float] = field(default_factory=dict)
    cpu_seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Measure what happens inside."""
        self.start(name)
        yield
        self.stop(name)

    def start(self, name: str) -> None:
        """Begin a phase that does not end in the same function."""
        self.begin(name)
        self.seconds[name] = -time.monotonic()
        self.cpu_seconds[name] = -time.process_time()

    def stop(self, name: str) -> None:
        """End it."""
        self.seconds[name] = round(self.seconds[name] + time.monotonic(), 2)
        self.cpu_seconds[name] = round(self.cpu_seconds[name] + time.process_time(), 2)

    def entry(self) -> dict[str, dict[str, float]]:
        """Return the times as a part of the round's record."""
        return {"seconds": self.seconds, "cpu_seconds": self.cpu_seconds}
