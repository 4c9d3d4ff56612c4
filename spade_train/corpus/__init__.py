"""Documents that designs are grounded on: read from many kinds of sources, drawn by seed, skill and domain."""

from spade_train.corpus.chunks import chunks, excerpt, pieces
from spade_train.corpus.corpus import FEW, Corpus, read_corpus
from spade_train.corpus.document import Document, Unread
from spade_train.corpus.labels import Labels, label
from spade_train.corpus.source import Source

__all__ = [
    "FEW",
    "Corpus",
    "Document",
    "Labels",
    "Source",
    "Unread",
    "chunks",
    "excerpt",
    "label",
    "pieces",
    "read_corpus",
]
