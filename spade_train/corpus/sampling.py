"""Draws without state: what is drawn follows from a key and a number alone, so a run that goes on draws on.

Each function is a bijection, so different numbers give different draws, whichever process asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from hashlib import blake2b
from math import gcd, lcm

_ROUNDS = 4
"""Of the Feistel network: four make a pseudo-random permutation (Luby and Rackoff 1988)."""

FINEST = 1000
"""Shares are told apart as fractions up to this denominator."""


def permuted(place: int, size: int, key: str) -> int:
    """Return where a shuffle of ``range(size)`` by this key puts ``place``, without shuffling the others.

    A Feistel network permutes the next power of four; where it leads out of the range it is asked again (cycle
    walking), which stays a bijection.
    """
    bits = max(1, ((size - 1).bit_length() + 1) // 2)
    while True:
        left, right = place >> bits, place & ((1 << bits) - 1)
        for number in range(_ROUNDS):
            left, right = right, left ^ _mixed(f"{key}/{number}/{right}", bits)
        place = left << bits | right
        if place < size:
            return place


def turn(weights: Sequence[float], index: int, key: str) -> tuple[int, int]:
    """Return which of several sources the ``index``-th draw goes to, and how many went to it before.

    In one cycle each source has as many draws as its share, in a shuffled order.

    Args:
        weights: each at least ``1 / FINEST``.
    """
    shares = _whole(weights)
    cycle, place = divmod(index, sum(shares))
    place = permuted(place, sum(shares), f"{key}/{cycle}")
    for which, share in enumerate(shares):
        if place < share:
            return which, cycle * share + place
        place -= share
    raise AssertionError("places lie within the sum of the shares")


def shuffled(index: int, size: int, key: str) -> int:
    """Return the ``index``-th draw from ``range(size)``: all of it in one order, then all of it in another."""
    epoch, place = divmod(index, size)
    return permuted(place, size, f"{key}/{epoch}")


def _whole(weights: Sequence[float]) -> list[int]:
    """Return the smallest whole numbers that stand to each other as the weights do."""
    parts = [Fraction(weight).limit_denominator(FINEST) for weight in weights]
    scale = lcm(*(part.denominator for part in parts))
    numbers = [int(part * scale) for part in parts]
    return [number // gcd(*numbers) for number in numbers]


def _mixed(text: str, bits: int) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()) & (
        (1 << bits) - 1
    )
