"""Values out of JSON that somebody may have changed by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_LARGEST = 2**63
"""Databases and other languages know no larger whole numbers."""


def given(data: Mapping[str, Any], name: str, kind: Any) -> Any:
    """Return what stands under a name, None where it is of another kind or can be neither written nor sent.

    Args:
        data: a JSON object.
        name: one of its keys.
        kind: what it has to be, as for ``isinstance``. Texts come back without what UTF-8 cannot say.
    """
    value = data.get(name)
    if isinstance(value, str):
        value = value.encode("utf-8", "replace").decode()
    if not isinstance(value, kind) or (isinstance(value, int) and abs(value) >= _LARGEST):
        return None
    return value
