"""What a backend has been asked and what it took: every answer counts, whatever it was for."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from spade_train.backends.interface import Answer, Ask, Backend, Failed, Pending


@dataclass(frozen=True, slots=True)
class Spent:
    """What answers took.

    Attributes:
        asks: how many were answered or given up; what is waited for is not among them.
        failed: how many of them got no reply.
        cost: None without a price.
    """

    asks: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None

    @classmethod
    def of(cls, answers: Iterable[Answer | Failed]) -> Spent:
        """Return what these answers took."""
        done = [one for one in answers if not isinstance(one, Pending)]
        replies = [one for one in done if isinstance(one, Answer)]
        return cls(
            len(done),
            len(done) - len(replies),
            sum(one.prompt_tokens for one in replies),
            sum(one.completion_tokens for one in replies),
            _sum(one.cost for one in replies),
        )

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            self.asks + other.asks,
            self.failed + other.failed,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            _sum((self.cost, other.cost)),
        )


class Meter:
    """A backend that counts, for use by several threads.

    Attributes:
        backend: who is asked.
    """

    def __init__(self, backend: Backend) -> None:
        self.backend, self._spent, self._lock = backend, Spent(), threading.Lock()

    @property
    def name(self) -> str:
        """The backend's."""
        return self.backend.name

    def answer(self, asks: Sequence[Ask]) -> list[Answer | Failed]:
        """Ask the backend."""
        answers = self.backend.answer(asks)
        with self._lock:
            self._spent += Spent.of(answers)
        return answers

    def take(self) -> Spent:
        """Return what was spent since the last call."""
        with self._lock:
            spent, self._spent = self._spent, Spent()
        return spent


def _sum(costs: Iterable[float | None]) -> float | None:
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known else None
