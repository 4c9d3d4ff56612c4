"""Designing environments: what a designer is told, and how a source comes of its reply."""

from spade_train.corpus import Corpus, Document
from spade_train.designer.compose import ComposeDesigner
from spade_train.designer.context import DesignContext, Designer, Draft, Message, Reason
from spade_train.designer.edit import EditDesigner
from spade_train.designer.free import FreeDesigner
from spade_train.designer.provenance import how_made
from spade_train.designer.repair import Refused, read_repair, repair_prompt
from spade_train.designer.slots import SlotDesigner
from spade_train.designer.window import Window

__all__ = [
    "ComposeDesigner",
    "Corpus",
    "DesignContext",
    "Designer",
    "Document",
    "Draft",
    "EditDesigner",
    "FreeDesigner",
    "Message",
    "Reason",
    "Refused",
    "SlotDesigner",
    "Window",
    "how_made",
    "read_repair",
    "repair_prompt",
]
