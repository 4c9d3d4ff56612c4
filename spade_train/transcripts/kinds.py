"""Rows as TRL's trainers take them, in conversational form."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from spade_train.transcripts.replaying import Played, Transcript

Kind = Literal["sft", "preference"]

Pair = tuple[Played, Played]
"""A success and a failure from the same start."""


def successes(plays: Iterable[Played]) -> list[Played]:
    """Return successful plays, each conversation once: the first time that it was played."""
    found: dict[tuple[object, ...], Played] = {}
    for one in plays:
        if one.success:
            found.setdefault((one.start, one.replies), one)
    return list(found.values())


def pairs(plays: Iterable[Played]) -> list[Pair]:
    """Return a success and a failure of the same start as often as there are both; no play stands in two pairs."""
    starts: dict[tuple[object, ...], tuple[dict[tuple[str, ...], Played], dict[tuple[str, ...], Played]]] = {}
    for one in plays:
        won, lost = starts.setdefault(one.start, ({}, {}))
        (won if one.success else lost).setdefault(one.replies, one)
    return [pair for won, lost in starts.values() for pair in zip(won.values(), lost.values(), strict=False)]


def sft_rows(transcripts: Sequence[Transcript]) -> list[dict[str, Any]]:
    """Return rows with ``messages``, for ``SFTTrainer``."""
    offered = any(one.tools for one in transcripts)
    return [
        {"messages": [*one.prompt, *one.completion], **_tools(one, offered), **_about(one.played)}
        for one in transcripts
    ]


def preference_rows(wanted: Sequence[Pair], transcripts: Sequence[Transcript]) -> list[dict[str, Any]]:
    """Return rows with ``prompt``, ``chosen``, ``rejected``, for ``DPOTrainer``, of pairs that are whole."""
    known = {one.played: one for one in transcripts}
    whole = [(known[won], known[lost]) for won, lost in wanted if won in known and lost in known]
    offered = any(won.tools for won, _ in whole)
    return [
        {
            "prompt": list(won.prompt),
            "chosen": list(won.completion),
            "rejected": list(lost.completion),
            **_tools(won, offered),
            **_about(won.played),
        }
        for won, lost in whole
    ]


def _tools(one: Transcript, offered: bool) -> dict[str, str]:
    """Schemas as JSON, which TRL reads: schemas of different functions have no type in common."""
    return {"tools": json.dumps(list(one.tools))} if offered else {}


def _about(played: Played) -> dict[str, Any]:
    return {"env_id": played.env_id, "level": played.level, "seed": played.seed, "round": played.round}
