"""How a design was made, as its admission records it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spade_train.designer import prompts
from spade_train.designer.context import DesignContext, Designer


def how_made(
    model: str | None,
    designer: Designer,
    prompt_sha256: str,
    sampling: Mapping[str, Any],
    context: DesignContext,
) -> dict[str, Any]:
    """Return what all designs of one prompt share.

    Args:
        model: who writes.
        designer: its way of designing.
        prompt_sha256: the prompt's hash.
        sampling: how replies are drawn.
        context: what the prompt tells: the document that it quotes, what is joined.
    """
    document = context.document
    joined = {"parents": list(context.parents)} if designer.way == "compose" else {}  # a header names one
    return {
        "designer": model,
        "way": designer.way,
        "prompt_version": prompts.VERSION,
        "prompt_sha256": prompt_sha256,
        "sampling": dict(sampling),
        "document": document.source if document else None,
        "document_licence": document.licence if document else None,
        **joined,
    }
