"""Designing environments: what a designer is told, and how a source comes of its reply."""

from spade_train.corpus import Corpus, Document
from spade_train.designer.context import DesignContext, Designer, Message
from spade_train.designer.free import FreeDesigner
from spade_train.designer.memory import Memory, Record
from spade_train.designer.slots import SlotDesigner

__all__ = [
    "Corpus",
    "DesignContext",
    "Designer",
    "Document",
    "FreeDesigner",
    "Memory",
    "Message",
    "Record",
    "SlotDesigner",
]
