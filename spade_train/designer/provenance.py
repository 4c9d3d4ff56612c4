"""How a design was made, as its admission records it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spade_train.corpus import Document
from spade_train.designer import prompts
from spade_train.designer.context import Designer


def how_made(
    model: str | None,
    designer: Designer,
    prompt_sha256: str,
    sampling: Mapping[str, Any],
    document: Document | None,
) -> dict[str, Any]:
    """Return what all designs of one prompt share.

    Args:
        model: who writes.
        designer: its way of designing.
        prompt_sha256: the prompt's hash.
        sampling: how replies are drawn.
        document: what the prompt quotes.
    """
    return {
        "designer": model,
        "way": designer.way,
        "prompt_version": prompts.VERSION,
        "prompt_sha256": prompt_sha256,
        "sampling": dict(sampling),
        "document": document.source if document else None,
        "document_licence": document.licence if document else None,
    }
