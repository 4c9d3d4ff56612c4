"""How various the designs of a round are: distinct ones of each kind, and how many that comes to effectively.

The *effective number* of things of which some are frequent and others rare is how many equally frequent ones would
be as various. Of labels it is the inverse of Simpson's index, 1 / sum p^2 (Simpson 1949; Hill 1973, order 2). Of
syntax trees, which are more or less alike, it is the Vendi score, exp(-sum l log l) over the eigenvalues l of their
likeness divided by their number (Friedman & Dieng 2023, arXiv 2210.02410).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from spade_envs import Header, behaviour_key, parse_header, shared_trees, tree_key
from spade_train.memory.ideas import Idea, keys


@dataclass(frozen=True, slots=True)
class Diversity:
    """How various some designs are.

    Attributes:
        designs: how many have a source, admitted or not.
        trees, ideas: distinct syntax trees (names apart) and ideas.
        behaviours: distinct courses of play, of those that were played.
        skills, domains: distinct tags in their headers.
        effective_trees: the Vendi score of the trees, from 1 to ``designs``; 0 where there is none.
        effective_ideas: the inverse of Simpson's index of the ideas.
    """

    designs: int = 0
    trees: int = 0
    ideas: int = 0
    behaviours: int = 0
    skills: int = 0
    domains: int = 0
    effective_trees: float = 0.0
    effective_ideas: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as JSON-ready data."""
        return asdict(self)

    def text(self) -> str:
        """Return the figures as one line."""
        return (
            f"{self.designs} designs: {self.ideas} ideas (effectively {self.effective_ideas:.1f}), "
            f"{self.trees} syntax trees (effectively {self.effective_trees:.1f}), {self.behaviours} behaviours, "
            f"{self.skills} skills, {self.domains} domains"
        )


def diversity(designs: Sequence[tuple[str, Mapping[str, Any] | None]]) -> Diversity:
    """Return how various designs are.

    Args:
        designs: sources, each with the report of its admission, None where it came to none.
    """
    sources = [source for source, _ in designs]
    headers = [header for source in sources if isinstance(header := parse_header(source), Header)]
    ideas = [key for key in keys(map(Idea.of, sources), {}) if key]
    trees = [tree_key(source) or source for source in sources]
    behaviours = {behaviour_key(report) for _, report in designs if report} - {None}
    return Diversity(
        len(designs),
        len(set(trees)),
        len(set(ideas)),
        len(behaviours),
        len({skill for header in headers for skill in header.skills}),
        len({header.domain for header in headers}),
        vendi(shared_trees(sources)),
        inverse_simpson(ideas),
    )


def inverse_simpson(labels: Iterable[Hashable]) -> float:
    """Return the effective number of labels: 1 where all are equal, their number where all differ, 0 of none."""
    counts = Counter(labels).values()
    return sum(counts) ** 2 / sum(n * n for n in counts) if counts else 0.0


def vendi(likeness: ArrayLike) -> float:
    """Return the Vendi score.

    Args:
        likeness: (n, n), symmetric and positive semidefinite, with ones on the diagonal.

    Returns:
        From 1, where all are equal, to n, where none is like another; 0 where n is 0.
    """
    matrix = np.asarray(likeness, dtype=float)
    if not matrix.size:
        return 0.0
    shares = np.linalg.eigvalsh(matrix / len(matrix))
    positive = shares[shares > 1e-12]
    return float(np.exp(-(positive * np.log(positive)).sum()))


def unlike_others(sources: Sequence[str | None]) -> list[float]:
    """Return for each design how unlike the others of its block its syntax tree is, in [0, 1]: 1 less the mean share.

    A design without a source has 0, and counts for no other's; one that is alone has 1.
    """
    known = [source for source in sources if source is not None]
    shares = iter(shared_trees(known))
    return [0.0 if source is None else _unlike(next(shares)) for source in sources]


def _unlike(shares: np.ndarray[Any, np.dtype[np.float64]]) -> float:
    others = len(shares) - 1
    return 1 - (float(shares.sum()) - 1) / others if others else 1.0
