"""One source of documents: the word that names it, what it gave, and what of it was left out."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from spade_envs import seeds_folder
from spade_envs.errors import UsageError
from spade_train.corpus.document import Document, Entry, Unread
from spade_train.corpus.folders import read_file, read_folder
from spade_train.corpus.installed import WORD as INSTALLED
from spade_train.corpus.installed import read_installed
from spade_train.corpus.junk import why_junk
from spade_train.corpus.sampling import FINEST
from spade_train.corpus.words import count_words

Say = Callable[[str], object]

SHIPPED, HUB = "shipped", "hf:"
MOST_NAMED = 20
"""So many faults of a source are named one by one; the others are counted."""

MOST_CHARACTERS = 500_000_000
"""A source is read until it has so many: it lies in memory."""


@dataclass(frozen=True)
class Source:
    """One source.

    Attributes:
        word: what names it in the settings, without a weight.
        weight: its share of the draws, in proportion to the others'.
        unread: what could not be read.
        junk: reason -> how many documents were left out for it.
    """

    word: str
    documents: tuple[Document, ...]
    weight: float = 1.0
    unread: tuple[Unread, ...] = ()
    junk: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def read(cls, word: str, say: Say = lambda _: None) -> Source:
        """Read the source that a word with or without a weight names.

        Args:
            say: is told what will take a while.

        Raises:
            UsageError: there is no such file, folder, package or data set, the weight is none, or the hub
                is out of reach.
        """
        name, weight = weighted(word)
        return replace(gathered(name, entries(name, say), _is_installed(name)), weight=weight)

    @cached_property
    def sha256(self) -> str:
        """The hash of all documents: equal corpora give equal draws."""
        digest = sha256()
        for one in self.documents:
            digest.update(f"{one.source}\0{one.text}\0".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    def as_dict(self) -> dict[str, Any]:
        """Return what is put on record of it, JSON-ready."""
        return {
            "source": self.word,
            "weight": self.weight,
            "documents": len(self.documents),
            "words": sum(count_words(one.text) for one in self.documents),
            "licences": dict(Counter(one.licence or "unknown" for one in self.documents).most_common()),
            "junk": dict(self.junk),
            "unread": [one.text() for one in self.unread],
            "sha256": self.sha256,
        }


def weighted(word: str) -> tuple[str, float]:
    """Split ``installed=0.5`` into name and weight, which is 1 where none is said; a path may hold ``=``.

    Raises:
        UsageError: the weight is no share.
    """
    name, sign, last = word.rpartition("=")
    if not sign or os.path.exists(os.path.expanduser(word)):
        return word, 1.0
    try:
        weight = float(last)
    except ValueError:
        return word, 1.0
    if not 1 / FINEST <= weight <= FINEST or math.isnan(weight):
        raise UsageError(f"{name} has the weight {last}; it must lie in [{1 / FINEST}, {FINEST}].")
    return name, weight


def entries(name: str, say: Say) -> Iterator[Entry]:
    """Return what the reader of a source yields. Raises UsageError, at once or when it is first asked."""
    if name == SHIPPED:
        return read_shipped()
    if _is_installed(name):
        return read_installed(name.partition(":")[2] or None, say)
    if name.startswith(HUB):
        from spade_train.corpus.hub import read_hub

        return read_hub(name.removeprefix(HUB), say)
    path = Path(os.path.expanduser(name))
    if not os.path.exists(path):  # Path's own raises for names that no file can have
        raise UsageError(
            f"{name}: it is not there. Name a file, a folder, {SHIPPED}, {INSTALLED}, or {HUB}OWNER/NAME."
        )
    return read_folder(path) if path.is_dir() else read_file(path, path.name)


def read_shipped() -> Iterator[Entry]:
    """Yield the documents that come with this package."""
    for path in sorted((seeds_folder() / "corpus").glob("*.jsonl")):
        yield from read_file(path, path.name)


def _is_installed(name: str) -> bool:
    return name.partition(":")[0] == INSTALLED


def gathered(name: str, found: Iterator[Entry], judged: bool = False) -> Source:
    """Return a source of what its reader yields, up to what fits into memory, without junk.

    Args:
        judged: the reader has left the junk out itself.
    """
    documents: list[Document] = []
    unread: list[Unread] = []
    junk: Counter[str] = Counter()
    room = MOST_CHARACTERS
    for one in found:
        if isinstance(one, Unread):
            unread.append(one)
        elif not judged and (reason := why_junk(one.text)) is not None:
            junk[reason] += 1
        elif room < len(one.text):
            unread.append(
                Unread(name, f"only its first {len(documents)} documents are read", "Cut it in two")
            )
            break
        else:
            documents.append(one)
            room -= len(one.text)
    return Source(name, tuple(documents), unread=_shortened(name, unread), junk=junk)


def _shortened(name: str, unread: Sequence[Unread]) -> tuple[Unread, ...]:
    if len(unread) <= MOST_NAMED:
        return tuple(unread)
    rest = len(unread) - MOST_NAMED
    return (*unread[:MOST_NAMED], Unread(name, f"{rest} more faults are not named", "Mend those first"))
