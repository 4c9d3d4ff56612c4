"""Documents that designs are grounded on: read from many kinds of sources, drawn by seed, skill and domain."""

from spade_train.corpus.chunks import chunks, excerpt, pieces
from spade_train.corpus.corpus import Corpus
from spade_train.corpus.document import Document, Unread
from spade_train.corpus.labels import Labels, label
from spade_train.corpus.source import Source

__all__ = ["Corpus", "Document", "Labels", "Source", "Unread", "chunks", "excerpt", "label", "pieces"]
