"""Designing environments: what a designer is told, and how a source comes of its reply."""

from spade_train.designer.context import DesignContext, Designer, Document, Message, Reason
from spade_train.designer.corpus import Corpus
from spade_train.designer.free import FreeDesigner
from spade_train.designer.slots import SlotDesigner

__all__ = [
    "Corpus",
    "DesignContext",
    "Designer",
    "Document",
    "FreeDesigner",
    "Message",
    "Reason",
    "SlotDesigner",
]
