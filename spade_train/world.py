"""The processes that train together. One process is a world of its own, and nothing is sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class World:
    """This process's place among those that ``torchrun`` or ``accelerate launch`` has started.

    Attributes:
        rank: its number, from 0; the first one writes the run's files.
        size: how many there are.
    """

    rank: int = 0
    size: int = 1

    @property
    def first(self) -> bool:
        """Whether this process writes what all of them share."""
        return self.rank == 0

    def gather(self, value: T) -> list[T]:
        """Return everybody's value, in the order of ranks. All must call it."""
        if self.size == 1:
            return [value]
        import torch.distributed

        values: list[T] = [value] * self.size
        torch.distributed.all_gather_object(values, value)
        return values
