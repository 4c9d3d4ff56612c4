"""Keys and values of many conversations, each at its own length.

A cache of transformers holds one rectangle: where one row reads more than another, the others get columns of
padding that every later token pays for, and the rectangle is copied whenever it grows. Here each row has a slot
and fills it from the left; slots are allocated ahead, and a row that leaves gives its slot to the last one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers import Cache
from transformers.cache_utils import CacheLayerMixin

AHEAD = 64
"""Columns that are allocated beyond those in use."""


@dataclass
class Aim:
    """Where the next pass writes and how far it reads.

    Attributes:
        slots: of the pass's rows; None where they are all slots in order.
        columns: (rows, width) for each new token; -1 for padding.
        seen: how many columns are read.
        room: how many slots there are.
    """

    slots: torch.Tensor | None
    columns: torch.Tensor
    seen: int
    room: int


class _Layer(CacheLayerMixin):  # type: ignore[misc]  # transformers has no types here
    """One layer's slots: (slots, heads, columns, size)."""

    aim: Aim

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        self.keys, self.values = (_empty(new, self.aim.room, 0) for new in (key_states, value_states))
        self.is_initialized = True

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *_: Any, **__: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Write what is new; return all that the pass's rows have."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        if self.aim.seen >= self.keys.shape[2]:  # the last column takes what is padding
            self.keys, self.values = (_grown(old, self.aim.seen + AHEAD) for old in (self.keys, self.values))
        return self._write(self.keys, key_states), self._write(self.values, value_states)

    def _write(self, kept: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
        aim = self.aim
        slots = torch.arange(len(new), device=new.device) if aim.slots is None else aim.slots
        kept[slots[:, None], :, aim.columns] = new.transpose(1, 2)
        return (kept[: len(new)] if aim.slots is None else kept[slots])[:, :, : aim.seen]

    def get_seq_length(self) -> int:
        return 0 if self.keys is None else int(self.keys.shape[2])

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:  # noqa: ARG002 - the mask is given
        return self.aim.seen, 0

    def get_max_length(self) -> int:
        return -1


class SlotCache(Cache):  # type: ignore[misc]
    """The cache of one model with ``layers`` layers."""

    def __init__(self, layers: int) -> None:
        super().__init__(layers=[_Layer() for _ in range(layers)])

    def aim(self, aim: Aim) -> None:
        """Say where the next pass writes."""
        for layer in self.layers:
            layer.aim = aim

    def spread(self, slots: Sequence[int]) -> None:
        """Go on with copies of these slots, in this order."""
        for layer in self.layers:
            if layer.is_initialized:
                layer.keys, layer.values = layer.keys[list(slots)], layer.values[list(slots)]

    def move(self, source: int, target: int) -> None:
        """Overwrite a slot with another one."""
        for layer in self.layers:
            if layer.is_initialized and source != target:
                layer.keys[target], layer.values[target] = layer.keys[source], layer.values[source]


def _empty(like: torch.Tensor, slots: int, columns: int) -> torch.Tensor:
    # Zeros, for what is masked is still multiplied by nothing, and nothing times NaN is NaN.
    return like.new_zeros(slots, like.shape[1], columns, like.shape[3])


def _grown(old: torch.Tensor, columns: int) -> torch.Tensor:
    new = _empty(old, len(old), columns)
    new[:, :, : old.shape[2]] = old
    return new
