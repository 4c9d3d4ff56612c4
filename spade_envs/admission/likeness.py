"""How like two designs are: one fingerprint against many, in a few operations on whole arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spade_envs.admission.fingerprint import (
    NO_STREAM,
    STREAM_COLUMNS,
    TEXT_COLUMNS,
    TREE_COLUMNS,
    Fingerprint,
    telling,
)
from spade_envs.admission.rates import p_differ, p_more
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
    table = np.concatenate([other.row for other in others]).reshape(len(others), -1)
    tree, text = (_agreement(one.row[part], table[:, part]) for part in (TREE_COLUMNS, TEXT_COLUMNS))
    contained = _contained(tree, one.tree_size, np.array([other.tree_size for other in others]))
    return Likeness(tree, contained, text, _behaviour(one.streams, table[:, STREAM_COLUMNS]))


def _agreement(one: NDArray[np.uint32], many: NDArray[np.uint32]) -> Shares:
    """Return the share of places in which sketches agree; a sketch of nothing is like nothing."""
    if one[0] == EMPTY:
        return np.zeros(len(many))
    shares: Shares = np.count_nonzero(many == one, axis=1) / one.size
    return shares


def _contained(shares: Shares, size: int, sizes: NDArray[np.int_]) -> Shares:
    common = shares * (size + sizes) / (1 + shares)
    result: Shares = np.minimum(1.0, common / np.maximum(1, np.minimum(size, sizes)))
    return result


def _behaviour(one: NDArray[np.uint32], many: NDArray[np.uint32]) -> Shares:
    """Return the share of equal streams, whole or bare, of those that tell instances apart."""
    shares: Shares = np.zeros(len(many))
    many = many.reshape(len(many), 2, -1)
    ours = telling(one)
    some = np.flatnonzero(((many == one) & ours).any(axis=(1, 2)))
    theirs = telling(many[some])
    both = ((many[some] == one) & ours & theirs).sum(axis=2)
    most = np.maximum(ours.sum(axis=2), theirs.sum(axis=2))
    shares[some] = (both / np.maximum(1, most)).max(axis=1)
    return shares


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
        if here and there and p_differ(here, there) < DIFFERS_P:
            return f"the expert does not need equally many steps at level {level}"
    return None


def _p_success(one: tuple[int, int], other: tuple[int, int]) -> float:
    return min(1.0, 2 * min(p_more(*one, *other), p_more(*other, *one)))
