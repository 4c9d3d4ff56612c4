"""Which environments a reset is of."""

from __future__ import annotations

from typing import Any

import numpy as np

from spade_envs.errors import UsageError


def mask_of(given: Any, count: int) -> np.ndarray:
    """Return which of ``count`` environments are meant: all where nothing is given.

    Raises:
        UsageError: it is no mask of so many, or one of none.
    """
    if given is None:
        return np.ones(count, bool)
    if (
        not isinstance(given, np.ndarray)
        or given.dtype != np.bool_
        or given.shape != (count,)
        or not given.any()
    ):
        raise UsageError(
            f"options['reset_mask'] must be an array of {count} bools, of which at least one is true"
        )
    return given
