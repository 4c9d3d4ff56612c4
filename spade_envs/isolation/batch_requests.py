"""What is asked of a batch, and the message that asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np


class Turn(NamedTuple):
    """What is asked of a batch; rows are the instances that are asked, in their order.

    Attributes:
        positions: which instances; all where None.
        actions: one for each row, an array or a list.
        resets: seeds of rows that are reset and take no step.
        options: for those resets.
        anew: rows of these that are to be built anew.
        seeds: for each row the seed of the episode that begins where this one ends; None where none is to begin.
        last: rows whose episode ends with this step whatever the design says.
    """

    positions: list[int] | None
    actions: Any
    resets: dict[int, int] = {}  # nobody writes into it
    options: dict[str, Any] | None = None
    anew: Sequence[int] = ()
    seeds: np.ndarray | None = None
    last: Sequence[int] = ()


STEPS, FOLLOWED = b"\0" * 8, b"\0" * 7 + b"\1"
"""How the message begins in which every instance takes a step and nothing else happens; the actions follow, and after
the second the seeds of the episodes that begin where one ends."""


def steps_message(actions: np.ndarray, seeds: np.ndarray | None) -> bytes:
    """Return the message of a turn in which every instance takes a step."""
    return STEPS + actions.tobytes() if seeds is None else FOLLOWED + actions.tobytes() + seeds.tobytes()


def turn_message(turn: Turn) -> bytes | None:
    """Return the message of a turn in its usual form, in which arrays are their bytes, or None: then it is none."""
    positions, actions, resets, options, anew, seeds, last = turn
    if options is not None or type(actions) is not np.ndarray:
        return None
    if positions is None and not resets and not last:
        return steps_message(actions, seeds)
    data = None if seeds is None else seeds.tobytes()
    return _ENCODER.encode(("turn", positions, actions.tobytes(), resets, None, anew, data, last))


_ENCODER = msgspec.msgpack.Encoder()
