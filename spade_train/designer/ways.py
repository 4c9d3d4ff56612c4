"""Every way of designing by its name."""

from __future__ import annotations

from typing import Literal, get_args

from spade_train.designer.compose import ComposeDesigner
from spade_train.designer.context import Designer
from spade_train.designer.edit import EditDesigner
from spade_train.designer.free import FreeDesigner
from spade_train.designer.slots import SlotDesigner
from spade_train.designer.window import Window

Way = Literal["slots", "edit", "compose", "two_stage", "free"]
WAYS: tuple[Way, ...] = get_args(Way)
"""All ways, the one that leaves the least freedom first."""


def make_way(way: Way, *, brief: bool = False, window: Window = Window()) -> Designer:  # noqa: B008 (frozen)
    """Return a way of designing.

    Args:
        way: its name.
        brief: whether prompts are made for a small model.
        window: how long a prompt may be.
    """
    match way:
        case "slots":
            return SlotDesigner()
        case "edit":
            return EditDesigner(brief, window=window)
        case "compose":
            return ComposeDesigner(brief, window=window)
        case _:
            return FreeDesigner(brief, window=window, planned=way == "two_stage")
