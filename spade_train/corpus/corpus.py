"""The corpus of a run: its sources, and what is drawn from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from spade_envs.errors import UsageError
from spade_train.corpus.chunks import pieces
from spade_train.corpus.document import Document, Unread
from spade_train.corpus.labels import Labels, is_about, label
from spade_train.corpus.sampling import shuffled, turn
from spade_train.corpus.source import SHIPPED, Say, Source

WORDS = 300
"""The most words of what is drawn."""

FEW = 10
"""Fewer documents than this about a skill or a domain are a blind spot."""


@dataclass(frozen=True)
class Corpus:
    """Sources in a fixed order. Draws have no state: seed, number and focus tell all."""

    sources: tuple[Source, ...] = ()

    @classmethod
    def read(cls, words: Iterable[str | Path] | None = None, say: Say = lambda _: None) -> Corpus:
        """Read the sources that these words name, perhaps with weights; the shipped one where there are none.

        Raises:
            UsageError: a source is not there, or cannot be had.
        """
        return cls(tuple(Source.read(str(word), say) for word in list(words or ()) or [SHIPPED]))

    @classmethod
    def of(cls, documents: Iterable[Document]) -> Corpus:
        """Return a corpus of these documents."""
        return cls((Source("given", tuple(documents)),))

    @cached_property
    def documents(self) -> tuple[Document, ...]:
        """All documents, source by source."""
        return tuple(one for source in self.sources for one in source.documents)

    @property
    def unread(self) -> tuple[Unread, ...]:
        """What could not be read."""
        return tuple(one for source in self.sources for one in source.unread)

    @cached_property
    def labels(self) -> tuple[tuple[Labels, ...], ...]:
        """For each source, what each of its documents is about."""
        return tuple(tuple(map(label, source.documents)) for source in self.sources)

    def __len__(self) -> int:
        return len(self.documents)

    def draw(self, seed: int, index: int, *, focus: str | None = None, words: int = WORDS) -> Document | None:
        """Return a piece of the ``index``-th document of the run with this seed; None when there are none.

        Equal arguments give the equal piece, so a run that goes on draws on, and processes that share out the
        numbers never draw the same. A source's documents are all drawn once before one comes again, then as
        another of its pieces. Each focus has an order of its own.

        Args:
            seed: the run's seed.
            index: a number of the run's; documents are drawn without repeats along consecutive ones.
            focus: a skill, as headers name it, or a domain: of documents about it, as long as there are any.
            words: the most words of the piece.
        """
        pools = self._pools(focus)
        if not pools:
            return None
        key = f"{seed}/{focus or ''}"
        which, count = turn([self.sources[n].weight for n, _ in pools], index, key)
        number, pool = pools[which]
        source = self.sources[number]
        document = source.documents[pool[shuffled(count, len(pool), f"{key}/{source.word}")]]
        return _piece(document, count // len(pool), seed, words)

    def about(self, focus: str) -> list[tuple[int, ...]]:
        """Return, for each source, the places of its documents that are about a skill or a domain."""
        if focus not in self._found:
            self._found[focus] = [
                tuple(
                    place
                    for place, (one, labels) in enumerate(zip(source.documents, known, strict=True))
                    if is_about(one, labels, focus)
                )
                for source, known in zip(self.sources, self.labels, strict=True)
            ]
        return self._found[focus]

    def count_about(self, focus: str) -> int:
        """Return how many documents are about a skill or a domain."""
        return sum(map(len, self.about(focus)))

    @cached_property
    def _found(self) -> dict[str, list[tuple[int, ...]]]:
        """What :meth:`about` has looked up."""
        return {}

    def _pools(self, focus: str | None) -> list[tuple[int, Sequence[int]]]:
        """Return number of a source -> places of what is drawn from it; a source without any is left out."""
        found: list[Sequence[int]] = [*self.about(focus)] if focus is not None else []
        if not any(found):
            found = [range(len(source.documents)) for source in self.sources]
        return [(number, places) for number, places in enumerate(found) if places]


def read_corpus(words: Iterable[str | Path], say: Say = lambda _: None) -> Corpus:
    """Return the corpus that a setting names, where it holds anything.

    Raises:
        UsageError: a source is not there, or all of them together hold no document.
    """
    try:
        corpus = Corpus.read(words, say)
    except UsageError as problem:
        raise UsageError(f"corpus: {problem}") from problem
    if not len(corpus):
        raise UsageError(f"corpus: there is not one document. {_why_nothing(corpus)}")
    return corpus


def _why_nothing(corpus: Corpus) -> str:
    if corpus.unread:
        return corpus.unread[0].text()
    reasons = ", ".join(f"{count} {reason}" for one in corpus.sources for reason, count in one.junk.items())
    return f"What was read is left out: {reasons or 'nothing was there'}."


def _piece(document: Document, epoch: int, seed: int, words: int) -> Document:
    """Return another piece of a document in each epoch, until all have been drawn."""
    found = pieces(document.text, words) or (document.text,)
    place = shuffled(epoch, len(found), f"{seed}/{document.source}")
    return Document(found[place], document.source, document.licence)
