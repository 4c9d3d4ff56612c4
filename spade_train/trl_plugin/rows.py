"""Rows of a micro-batch by the role that they are of, computed apart and put together again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

Owner = Callable[[Sequence[int]], str]
"""Given a row's token ids without padding, whose row it is."""


def roles(inputs: Mapping[str, Any], role: Owner) -> list[str]:
    """Return whose each row is; ``inputs`` has ``input_ids`` and ``attention_mask`` (rows, width)."""
    rows = zip(inputs["input_ids"], inputs["attention_mask"], strict=True)
    return [role(ids[mask.bool()].tolist()) for ids, mask in rows]


def by_role(inputs: Mapping[str, Any], role: Owner) -> dict[str, torch.Tensor]:
    """Return role -> the numbers of its rows, in the order of roles."""
    owners, device = roles(inputs, role), inputs["input_ids"].device
    return {
        one: torch.tensor([n for n, owner in enumerate(owners) if owner == one], device=device)
        for one in sorted(set(owners))
    }


def only(inputs: Mapping[str, Any], index: torch.Tensor) -> dict[str, Any]:
    """Return the inputs of these rows alone: what is a tensor is cut, what is a setting stays."""
    return {
        name: value[index] if isinstance(value, torch.Tensor) else value for name, value in inputs.items()
    }


def joined(parts: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> torch.Tensor:
    """Return the rows of all parts in their old order; each part is the rows' numbers and their values."""
    order = torch.cat([index for index, _ in parts]).argsort()
    return torch.cat([values for _, values in parts])[order]
