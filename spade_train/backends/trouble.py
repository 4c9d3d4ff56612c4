"""What a server did wrong, as a value: whether it is worth another try, and when."""

from __future__ import annotations

import email.utils
import time
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from spade_train.backends.options import Patience

AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
"""Statuses after which the same request may succeed: too many at once, or a server that is starting or falling."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a try came to nothing.

    Attributes:
        again: whether another try makes sense.
        after: how long the server wants to be left alone, in seconds; None where it does not say.
    """

    reason: str
    again: bool = False
    after: float | None = None


def of_status(status: int, said: str, headers: Mapping[str, str], wanted_key: str) -> Trouble:
    """Return what a status other than success means.

    Args:
        said: the server's own words, quoted.
        wanted_key: the name of the variable that a key would come from.
    """
    if 300 <= status < 400:
        where = "it sends elsewhere, and a key follows no redirection; name the address that it sends to"
        return Trouble(f"status {status}: {where}")
    if status in (401, 403):
        return Trouble(
            f"status {status}: the key was refused or is missing; set {wanted_key}. It says: {said}"
        )
    if status == 404:
        return Trouble(
            f"status 404: no such model, or no such address; that usually ends in /v1. It says: {said}"
        )
    if status in AGAIN:
        return Trouble(f"status {status}: {said}", True, retry_after(headers.get("retry-after"), time.time()))
    return Trouble(f"status {status}: {said}")


def retry_after(value: str | None, now: float) -> float | None:
    """Return the seconds that a ``Retry-After`` header says, from now on; None where it says nothing readable."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(value).timestamp() - now
        except (ValueError, OverflowError):
            return None
    return max(0.0, seconds) if seconds < float("inf") else None


def wait(trouble: Trouble, tried: int, patience: Patience, rng: Random) -> float | None:
    """Return how long to wait before the next try, in seconds; None where there is none.

    The wait is drawn below a bound that doubles, so that many who failed together do not come back together; where the
    server says how long, it is never shorter than that.

    Args:
        tried: how many tries there were, from 1.
    """
    if not trouble.again or tried >= patience.tries:
        return None
    bound = min(patience.longest, patience.first * 2 ** (tried - 1))
    return (trouble.after or 0.0) + rng.uniform(0.0, bound)
