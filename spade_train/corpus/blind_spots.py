"""Blind spots: domains and skills that few documents are about, or that a run has never drawn a document for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from spade_train.corpus.corpus import FEW, Corpus
from spade_train.corpus.document import Document
from spade_train.corpus.labels import Labels, domains, skill_of, skills

Wanted = tuple[str, tuple[str, ...]]
"""An environment's domain and skills."""


@dataclass(frozen=True, slots=True)
class Spot:
    """One domain or skill.

    Attributes:
        documents: how many of the corpus are about it.
        environments: how many of the registries' are.
        drawn: how many draws of a run were of such a document; None where no run is asked.
    """

    kind: Literal["domain", "skill"]
    name: str
    documents: int
    environments: int
    drawn: int | None = None

    @property
    def blind(self) -> str | None:
        """What is missing; None where nothing is."""
        if self.documents < FEW:
            return "no document" if not self.documents else "few documents"
        return "never drawn" if self.drawn == 0 else None


def survey(corpus: Corpus, wanted: Sequence[Wanted], drawn: Iterable[str] | None = None) -> list[Spot]:
    """Return every domain and skill of the rules and of the environments, those with the fewest documents first.

    Args:
        wanted: of each environment.
        drawn: the source of each document that a run has drawn.
    """
    draws = Counter(drawn) if drawn is not None else None
    counts = {
        "domain": Counter(domain for domain, _ in wanted),
        "skill": Counter(skill for _, tags in wanted for skill in {skill_of(tag) for tag in tags}),
    }
    names = {"domain": [*domains()], "skill": [*skills()]}
    spots = []
    for kind in ("domain", "skill"):
        for name in dict.fromkeys([*names[kind], *sorted(counts[kind])]):
            spots.append(_spot(kind, name, corpus, counts[kind][name], draws))
    return sorted(spots, key=lambda spot: (spot.kind, spot.documents, spot.name))


def _spot(
    kind: Literal["domain", "skill"], name: str, corpus: Corpus, environments: int, draws: Counter[str] | None
) -> Spot:
    about = [
        source.documents[place]
        for source, places in zip(corpus.sources, corpus.about(name), strict=True)
        for place in places
    ]
    drawn = None if draws is None else sum(draws[source] for source in {one.source for one in about})
    return Spot(kind, name, len(about), environments, drawn)


def unlabelled(corpus: Corpus) -> int:
    """Return how many documents no rule knows a domain for."""
    return sum(labels.domain is None for known in corpus.labels for labels in known)


def never_drawn(corpus: Corpus, drawn: Iterable[str]) -> dict[str, int]:
    """Return, for each source, how many of its documents a run has never drawn."""
    seen = set(drawn)
    return {
        one.word: sum(document.source not in seen for document in one.documents) for one in corpus.sources
    }


def samples(corpus: Corpus, seed: int, count: int, focus: str | None) -> list[tuple[Document, Labels | None]]:
    """Return the first pieces that a run with this seed would draw, with what their documents are about."""
    known = {
        document.source: labels
        for source, all_labels in zip(corpus.sources, corpus.labels, strict=True)
        for document, labels in zip(source.documents, all_labels, strict=True)
    }
    drawn = (corpus.draw(seed, index, focus=focus) for index in range(count))
    return [(piece, known.get(piece.source)) for piece in drawn if piece is not None]
