"""Starts, turns and what is seen as JSON-ready data."""

from __future__ import annotations

import base64
from typing import Any

from spade_envs.web.play.game import Start, Turn
from spade_envs.web.play.seen import Seen


def start_data(start: Start) -> dict[str, Any]:
    """Return a start as JSON-ready data."""
    return {"id": str(start.env_id), "level": start.level, "seed": start.seed}


def turn_data(turn: Turn) -> dict[str, Any]:
    """Return a turn as JSON-ready data."""
    return {
        "turn": turn.number,
        "said": turn.move and turn.move.said,
        "by": turn.move and turn.move.by,
        "text": turn.text,
        "reward": turn.reward,
        "readable": turn.readable,
        "terminated": turn.terminated,
        "truncated": turn.truncated,
        "success": turn.success,
    }


def seen_data(seen: Seen) -> dict[str, Any]:
    """Return what is seen as JSON-ready data."""
    return {
        "text": seen.text,
        "parts": [{"name": part.name, "space": part.space, "value": part.value} for part in seen.parts],
        "picture": data_uri(seen.picture) or None,
    }


def data_uri(picture: bytes | None) -> str:
    """Return a PNG as an address that holds it; empty where there is none."""
    return "" if picture is None else "data:image/png;base64," + base64.b64encode(picture).decode()
