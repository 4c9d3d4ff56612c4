"""What tells designs apart when many are counted: keys that renaming does not change, and shares of syntax trees.

Equal keys mean the same tree or the same course of play; :mod:`spade_envs.admission.likeness` says how near others
are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spade_envs.admission.fingerprint import TREE_SIZE
from spade_envs.admission.neighbours import stored
from spade_envs.admission.shingles import EMPTY, sketch, tree_shingles

_BARE = 1  # the row of streams that holds their bare course


def tree_key(source: str) -> str | None:
    """Return 16 digits that stand for a source's normalised syntax tree; None where it is no Python."""
    shingles = tree_shingles(source)
    return _key(b"\n".join(sorted(shingles))) if shingles else None


def behaviour_key(report: Mapping[str, Any]) -> str | None:
    """Return 16 digits that stand for what the fixed streams of actions gave back, names apart.

    Args:
        report: of an admission, as JSON-ready data.

    Returns:
        None where the report holds no streams: the design was not played so far.
    """
    seen = stored(dict(report))
    return _key(seen.streams[_BARE].tobytes()) if seen is not None and seen.played else None


def shared_trees(sources: Sequence[str]) -> NDArray[np.float64]:
    """Return, for each pair of sources, the share of their syntax trees' parts that both hold (Jaccard's index).

    It is estimated by MinHash, and so positive semidefinite; ones stand on the diagonal.
    """
    rows = np.array([sketch(tree_shingles(one), TREE_SIZE) for one in sources]).reshape(
        len(sources), TREE_SIZE
    )
    shares: NDArray[np.float64] = (rows[:, None, :] == rows[None, :, :]).mean(axis=2)
    empty = rows[:, 0] == EMPTY  # no Python is like nothing else
    shares[empty, :] = shares[:, empty] = 0.0
    np.fill_diagonal(shares, 1.0)
    return shares


def _key(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()
