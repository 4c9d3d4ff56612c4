"""Workers kept ready for many environments: whoever needs one does not wait for a process to start."""

from __future__ import annotations

import threading
from typing import Self

from spade_envs.contract import Rejection
from spade_envs.errors import WorkerFault
from spade_envs.isolation.host import Isolation, Worker
from spade_envs.isolation.limits import Limits
from spade_envs.isolation.quarantine import QUARANTINE, Quarantine


class WorkerPool:
    """Idle workers, locked down and waiting, and a quarantine for designs that kill them.

    Threads may share it; a worker that was taken belongs to whoever took it. Close it, or use it in a ``with``
    block: spares are processes.

    Args:
        limits: what each worker may use.
        isolation: as for :meth:`Worker.start`.
        hash_seed: as for :meth:`Worker.start`.
        spares: how many idle workers are kept.
        quarantine: whose count of deaths is asked; this process's own where missing.

    Attributes:
        quarantine: as given; an environment tells it of its faults.
        limits: of each worker.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        isolation: Isolation = "process",
        hash_seed: int = 0,
        spares: int = 1,
        quarantine: Quarantine = QUARANTINE,
    ) -> None:
        self.limits = limits or Limits()
        self._isolation, self._hash_seed = isolation, hash_seed
        self.quarantine, self._most = quarantine, spares
        self._spares: list[Worker] = []
        self._lock = threading.Lock()
        self._fill()

    def take(self, source: str) -> Worker | Rejection:
        """Return a worker that holds the compiled design, or what is wrong with its source.

        Raises:
            WorkerFault: the design is quarantined, or compiling it fails in the worker.
            IsolationError: this machine cannot start a worker.
        """
        self.quarantine.check(source)
        if (spare := self._spare()) is not None:
            try:
                return _loaded(spare, source)
            except WorkerFault as fault:
                if not fault.gone:  # a spare may have ended before it was needed
                    self.quarantine.blame(source, fault)
                    raise
        try:
            return _loaded(self._started(), source)
        except WorkerFault as fault:
            self.quarantine.blame(source, fault)
            raise

    def close(self) -> None:
        """End the spares; workers that were taken live on. Safe to call again."""
        with self._lock:
            self._most = 0
            spares, self._spares = self._spares, []
        for worker in spares:
            worker.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _spare(self) -> Worker | None:
        """Return a spare that lives, and have another one forked in its place."""
        with self._lock:
            living = [worker for worker in self._spares if worker.alive]
            found = living.pop() if living else None
            self._spares = living
        self._fill()
        return found

    def _fill(self) -> None:
        with self._lock:
            while len(self._spares) < self._most:
                self._spares.append(self._started())

    def _started(self) -> Worker:
        return Worker.start(self.limits, self._hash_seed, self._isolation)


def _loaded(worker: Worker, source: str) -> Worker | Rejection:
    """Return the worker with the design in it; where that cannot be it is closed."""
    try:
        loaded = worker.load(source)
    except BaseException:
        worker.close()
        raise
    if isinstance(loaded, Rejection):
        worker.close()
        return loaded
    return worker
