"""Which environments a vector has: designs and difficulty levels take turns."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from spade_envs.contract import Header
from spade_envs.envs import check_difficulty, header_of
from spade_envs.errors import UsageError
from spade_envs.vector.squad import Member


def members_of(
    source: str | Sequence[str],
    num_envs: int | None,
    difficulty: int | Sequence[int] | None,
    arguments: dict[str, Any],
) -> tuple[list[Member], list[Header]]:
    """Return the environments of a vector, and the header of each.

    Raises:
        UsageError: a header is refused, a level does not exist, or the numbers do not go into each other.
    """
    sources = [source] if isinstance(source, str) else list(source)
    levels = [difficulty] if difficulty is None or isinstance(difficulty, int) else list(difficulty)
    count = max(len(sources), len(levels)) if num_envs is None else num_envs
    if not isinstance(count, int) or count < 1:
        raise UsageError(f"num_envs must be at least 1, found {num_envs!r}")
    for what, given in (("sources", sources), ("difficulty levels", levels)):
        if not given or count % len(given):
            raise UsageError(f"{len(given)} {what} cannot take turns evenly in {count} environments")
    headers = {text: header_of(text) for text in dict.fromkeys(sources)}
    members = []
    for text, level in itertools.islice(
        zip(itertools.cycle(sources), itertools.cycle(levels), strict=False), count
    ):
        own = arguments if level is None else {**arguments, "difficulty": level}
        check_difficulty(headers[text], own)
        members.append(Member(text, own))
    return members, [headers[member.source] for member in members]
