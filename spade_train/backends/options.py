"""How a backend is asked: how many at once, how long, at which price."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from spade_envs.errors import UsageError


@dataclass(frozen=True, slots=True)
class Price:
    """What a million tokens cost, in any currency."""

    prompt: float
    completion: float

    @classmethod
    def of(cls, numbers: Sequence[float], setting: str = "designer_price") -> Price | None:
        """Return the price that two numbers say; None where there are none.

        Raises:
            UsageError: they are not two, or one is negative or infinite.
        """
        if not numbers:
            return None
        if len(numbers) != 2 or not all(0 <= one < float("inf") for one in numbers):
            raise UsageError(
                f"{setting} is {' '.join(map(str, numbers))}; give two prices of a million tokens, of the prompt's and "
                "the reply's, such as 0.15 0.60."
            )
        return cls(*numbers)

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Return what so many tokens cost."""
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1e6


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a server is waited for, in seconds.

    Attributes:
        connect: for a connection.
        silence: for the next byte. A reply that is not streamed comes in one piece when it is finished.
        whole: for one request, all its tries and the waits between them together.
        tries: how often it is sent at most.
        first, longest: the wait before the second try, and the longest one; each wait is drawn between nothing and a
            bound that doubles with every try.
    """

    connect: float = 10.0
    silence: float = 300.0
    whole: float = 600.0
    tries: int = 5
    first: float = 0.5
    longest: float = 30.0


@dataclass(frozen=True, slots=True)
class Options:
    """How a backend is asked.

    Attributes:
        price: where costs are wanted.
        together: how many replies to one prompt one request asks for (``n``); they share its first seed.
        parallel: how many requests are under way at once; for a model in this process, rows of a batch.
    """

    price: Price | None = None
    together: int = 1
    parallel: int = 8
    patience: Patience = field(default_factory=Patience)

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """Return what so many tokens cost; None without a price."""
        return self.price.cost(prompt_tokens, completion_tokens) if self.price else None
