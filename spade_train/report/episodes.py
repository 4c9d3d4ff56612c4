"""Episodes to read, without and with the hint, as the pieces that the model read and wrote."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from spade_train.report.gathering import BROKEN, Line
from spade_train.report.reading import RunReader

Role = Literal["system", "user", "assistant", "tool"]

_TURN = re.compile(r"<\|im_start\|>(system|user|assistant|tool)\b")
"""How ChatML begins a turn; a prompt of another template is shown as one piece."""


@dataclass(frozen=True, slots=True)
class Part:
    """A run of tokens of one role, as text; ``sampled`` where the model wrote them, so that the mask is 1."""

    text: str
    role: Role
    sampled: bool = False


@dataclass(frozen=True, slots=True)
class Shown:
    """One episode.

    Attributes:
        trained: whether the sampled tokens are trained on: those of unhinted plays are.
        end: why it ended.
    """

    hinted: bool
    trained: bool
    parts: tuple[Part, ...]
    return_: float
    success: bool
    turns: int
    end: str


@dataclass(frozen=True, slots=True)
class Pair:
    """Two episodes that begin alike; ``round`` is counted from 0."""

    round: int
    env_id: str
    level: int
    seed: int
    plain: Shown
    hinted: Shown


def some_pairs(reader: RunReader, most: int) -> list[Pair]:
    """Return pairs to read: the newest, and first one of each environment."""
    beginnings = reader.episodes()
    first = {env_id: at for at, (_, env_id, _, _) in reversed(list(enumerate(beginnings)))}
    order = sorted(range(len(beginnings)), key=lambda at: (first[beginnings[at][1]] != at, at))
    found = (pair_at(reader, beginnings[at]) for at in order[: 4 * most])
    return [pair for pair in found if pair is not None][:most]


def pair_at(reader: RunReader, beginning: tuple[int, str, int, int]) -> Pair | None:
    """Return one pair; None where it cannot be read."""
    lines = reader.episode(beginning)
    if lines is None:
        return None
    try:
        plain, hinted = map(shown, lines)
    except BROKEN:
        return None
    round_, env_id, level, seed = beginning
    return Pair(round_, env_id, level, seed, plain, hinted)


def shown(line: Line) -> Shown:
    """Return a line of ``episodes.jsonl``.

    Raises:
        KeyError, TypeError, ValueError: it is no such line.
    """
    hinted = bool(line["hinted"])
    return Shown(
        hinted,
        not hinted,
        (*_prompt(str(line["prompt"])), *_completion(line)),
        float(line["return"]),
        bool(line["success"]),
        int(line["turns"]),
        str(line["end"]),
    )


def _prompt(text: str) -> Iterator[Part]:
    """Yield a prompt turn by turn."""
    begins = [found.start() for found in _TURN.finditer(text)]
    if not begins or begins[0]:
        yield Part(text[: begins[0]] if begins else text, "system" if begins else "user")
    for at, end in zip(begins, [*begins[1:], len(text)], strict=True):
        found = _TURN.match(text, at)
        assert found is not None  # it began there
        role: Any = found[1]
        yield Part(text[at:end], role)


def _completion(line: Line) -> list[Part]:
    """Return what followed the prompt; older runs do not say which tokens the model sampled."""
    pieces = line.get("pieces")
    if not isinstance(pieces, list):
        return [Part(str(line["completion"]), "assistant", sampled=True)]
    return [Part(str(text), "assistant" if own else "user", bool(own)) for text, own in pieces]
