"""An order: one prompt, the designs that are wanted of it, and how far they have come. One file each."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import msgspec

from spade_train.designer import DesignContext
from spade_train.rounds import Design

FORMAT = 1


@dataclass(frozen=True)
class Order:
    """What was asked for.

    Attributes:
        serial: its place among all orders of the run.
        context: what the designer is told; its ``round`` is the one that ordered.
        seeds: one for each design.
        designs: as they were written; None until they are.
        taken: the round that played them; None until one does.
        format: of the file.
    """

    serial: int
    context: DesignContext
    seeds: tuple[int, ...]
    designs: tuple[Design, ...] | None = None
    taken: int | None = None
    format: int = FORMAT


def write_order(path: Path, order: Order) -> None:
    """Write an order, whole or not at all."""
    # in ASCII: a document may hold half of a surrogate pair, which no other encoding writes
    text = json.dumps(msgspec.to_builtins(order))
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=".", delete=False) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(file.name, path)


def read_order(path: Path) -> Order | None:
    """Return an order; None where the file is broken or of another version of this program."""
    try:
        order = msgspec.convert(json.loads(path.read_bytes()), Order)
    except (OSError, ValueError, RecursionError, msgspec.ValidationError):
        return None
    return order if order.format == FORMAT else None
