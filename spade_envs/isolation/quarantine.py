"""Designs whose workers die again and again are started no more: each death costs a deadline and a fork."""

from __future__ import annotations

import hashlib
import threading

from spade_envs.errors import WorkerFault

DEADLY = frozenset({"timeout", "memory", "died", "protocol"})
"""The kinds of fault after which a worker is gone."""


class Quarantine:
    """Counts, for each design, the deaths of its workers in a row.

    Args:
        most_deaths: so many, one after the other, are enough.
    """

    def __init__(self, most_deaths: int = 10) -> None:
        self._most = most_deaths
        self._deaths: dict[str, int] = {}
        self._last: dict[str, str] = {}
        self._lock = threading.Lock()

    def blame(self, source: str, fault: WorkerFault) -> None:
        """Note a fault of a design's; only those count after which its worker is gone.

        A design that runs agents' programs is never quarantined: the death may be a program's doing.
        """
        if fault.kind in DEADLY and "run_program" not in source:
            with self._lock:
                key = _key(source)
                self._deaths[key] = self._deaths.get(key, 0) + 1
                self._last[key] = str(fault)

    def absolve(self, source: str) -> None:
        """Forget a design's deaths: an episode of its has ended in order, or somebody wants to try again."""
        if self._deaths:
            with self._lock:
                key = _key(source)
                self._deaths.pop(key, None)
                self._last.pop(key, None)

    def check(self, source: str) -> None:
        """Let a design pass, or raise.

        Raises:
            WorkerFault: of kind ``"quarantined"``, with the last fault.
        """
        key = _key(source)
        if self._deaths.get(key, 0) >= self._most:
            raise WorkerFault(
                "quarantined",
                f"{self._most} workers in a row died of this design, the last so: {self._last[key]}. "
                "Mend it, or call spade_envs.isolation.QUARANTINE.absolve(source) to try again.",
            )


def _key(source: str) -> str:
    return hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()


QUARANTINE = Quarantine()
"""The one of this process."""
