"""How like two designs are: one fingerprint against many, in a few operations on whole arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spade_envs.admission.fingerprint import NO_STREAM, Fingerprint
from spade_envs.admission.rates import p_more, p_shorter
from spade_envs.admission.shingles import EMPTY

Shares = NDArray[np.float64]
DIFFERS_P = 0.01  # measured success differs below this probability


@dataclass(frozen=True, slots=True)
class Likeness:
    """How like one design is to others: one number each, from 0 (nothing in common) to 1 (the same).

    Attributes:
        tree: what the syntax trees share of what either holds.
        contained: what they share of the smaller one: a copy stays a copy however much is put around it.
        text: what the rules share.
        behaviour: share of the streams that went alike; 0 where streams were not played or tell nothing.
    """

    tree: Shares
    contained: Shares
    text: Shares
    behaviour: Shares

    @property
    def overall(self) -> Shares:
        """The greatest of tree, text and behaviour; one minus it is the distance."""
        greatest: Shares = np.max([self.tree, self.text, self.behaviour], axis=0)
        return greatest


def likeness(one: Fingerprint, others: Sequence[Fingerprint]) -> Likeness:
    """Compare a fingerprint with others."""
    if not others:
        return Likeness(*(np.zeros(0) for _ in range(4)))
    tree = _agreement(one.tree, np.stack([other.tree for other in others]))
    sizes = np.array([other.tree_size for other in others])
    text = _agreement(one.text, np.stack([other.text for other in others]))
    return Likeness(tree, _contained(tree, one.tree_size, sizes), text, _behaviour(one, others))


def _agreement(one: NDArray[np.uint32], many: NDArray[np.uint32]) -> Shares:
    """Return the share of places in which sketches agree; a sketch of nothing is like nothing."""
    shares: Shares = (many == one).mean(axis=1)
    return np.where((many == EMPTY).all(axis=1) | bool((one == EMPTY).all()), 0.0, shares)


def _contained(shares: Shares, size: int, sizes: NDArray[np.int_]) -> Shares:
    common = shares * (size + sizes) / (1 + shares)
    result: Shares = np.minimum(1.0, common / np.maximum(1, np.minimum(size, sizes)))
    return result


def _behaviour(one: Fingerprint, others: Sequence[Fingerprint]) -> Shares:
    """Return the share of equal streams, whole or bare, of those that both have played."""
    many = np.stack([other.streams for other in others])
    both = (many != NO_STREAM) & (one.streams != NO_STREAM)
    equal = ((many == one.streams) & both).sum(axis=2).max(axis=1)
    most = np.maximum((many != NO_STREAM).sum(axis=2), (one.streams != NO_STREAM).sum(axis=1)).max(axis=1)
    tell = np.array([other.tells for other in others]) & one.tells
    result: Shares = np.where(tell, equal / np.maximum(1, most), 0.0)
    return result


def differs(one: Fingerprint, other: Fingerprint) -> str | None:
    """Say in what two designs that were both played differ, or None where no difference was seen."""
    both = (one.streams[1] != NO_STREAM) & (other.streams[1] != NO_STREAM)
    parted = int((one.streams[1] != other.streams[1])[both].sum())
    if parted:
        return f"{parted} of {int(both.sum())} episodes under the same actions differ"
    for level in sorted(set(one.success) & set(other.success)):
        if _p_success(one.success[level], other.success[level]) < DIFFERS_P:
            return f"random play does not succeed equally often at level {level}"
    for level in sorted(set(one.steps) & set(other.steps)):
        here, there = one.steps[level], other.steps[level]
        if here and there and 2 * min(p_shorter(here, there), p_shorter(there, here)) < DIFFERS_P:
            return f"the expert does not need equally many steps at level {level}"
    return None


def _p_success(one: tuple[int, int], other: tuple[int, int]) -> float:
    return min(1.0, 2 * min(p_more(*one, *other), p_more(*other, *one)))
