"""An episode in an address and in a file: its version, level and seed, and the moves that were made."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from spade_envs.contract import EnvId, Finding
from spade_envs.contract.plain import from_json, to_json
from spade_envs.errors import UsageError
from spade_envs.web.play.game import Move, Start

FORMAT = "spade-episode-1"
ADDRESS_LENGTH = 2_000
"""The most characters of moves in an address."""
MOST_SEED, MOST_MOVES = 2**63 - 1, 1_000
_SEED = f"a seed is a whole number from 0 to {MOST_SEED}"


@dataclass(frozen=True, slots=True)
class Episode:
    """What it takes to play an episode again.

    Attributes:
        file_sha256: of the version that was played, None where that is not known.
    """

    start: Start
    moves: tuple[Move, ...]
    file_sha256: str | None = None


def read_seed(text: str) -> int:
    """Return the seed that a text is. Raises UsageError where it is none."""
    if not text.isascii() or not text.isdigit() or len(text) > 19 or int(text) > MOST_SEED:
        raise UsageError(f"{_SEED}, found {text[:40]!r}")
    return int(text)


def write_moves(moves: Sequence[Move]) -> str:
    """Return moves as an address and a file have them: texts, and those of the expert as ``{"expert": text}``."""
    written = [move.said if move.by == "player" else {"expert": move.said} for move in moves]
    return json.dumps(written, ensure_ascii=False, separators=(",", ":"))


def read_moves(text: str) -> tuple[Move, ...]:
    """Return the moves that a text holds: a JSON list of texts; other JSON among them stands for its text.

    Raises:
        UsageError: it is no such list, or too long.
    """
    try:
        data = from_json(text)
    except ValueError as error:
        raise UsageError(f"the moves are no JSON: {error}") from None
    return moves_of(data)


def moves_of(data: Any) -> tuple[Move, ...]:
    """Return the moves that JSON data stand for. Raises UsageError as :func:`read_moves` does."""
    if not isinstance(data, list) or len(data) > MOST_MOVES:
        raise UsageError(f"the moves are no JSON list of at most {MOST_MOVES} texts")
    return tuple(map(_move, data))


def as_text(action: Any) -> str:
    """Return the words for an action that came as JSON data: a text as it is."""
    return action if isinstance(action, str) else to_json(action)


def address(place: str, start: Start, moves: Sequence[Move] = (), **more: str | int) -> str:
    """Return an address of a game; without its moves where they are too long for one.

    Args:
        place: ``"play"`` or ``"replay"``.
        start: version, level and seed.
        moves: that were made.
        **more: further parts of the query.
    """
    level = {} if start.level is None else {"level": start.level}
    query: dict[str, str | int] = {**level, "seed": start.seed}
    if moves and len(written := write_moves(moves)) <= ADDRESS_LENGTH:
        query["moves"] = written
    name = f"{start.env_id.name}-v{start.env_id.version}"
    return f"/{place}/{name}?" + urlencode({**query, **more}, errors="replace", quote_via=quote)


def write_file(episode: Episode) -> str:
    """Return the text of an episode's file."""
    start = episode.start
    data = {
        "format": FORMAT,
        "id": str(start.env_id),
        "file_sha256": episode.file_sha256,
        "level": start.level,
        "seed": start.seed,
        "moves": json.loads(write_moves(episode.moves)),
    }
    return json.dumps(data, ensure_ascii=False, indent=1) + "\n"


def read_file(text: str) -> Episode:
    """Return the episode that a file holds. Raises UsageError where it holds none."""
    try:
        data = from_json(text)
    except ValueError as error:
        raise UsageError(f"the file is no JSON: {error}") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise UsageError(f'the file is no episode: it has no "format": "{FORMAT}"')
    env_id = EnvId.parse(str(data.get("id")))
    if isinstance(env_id, Finding):
        raise UsageError(f"the file names no version: {env_id.found}")
    level, seed, sha256 = data.get("level"), data.get("seed"), data.get("file_sha256")
    if level is not None and (type(level) is not int or not 1 <= level <= 1_000):
        raise UsageError(f"the file's level is no whole number from 1: {str(level)[:40]!r}")
    if type(seed) is not int or not 0 <= seed <= MOST_SEED:
        raise UsageError(f"the file has no seed: {_SEED}")
    return Episode(
        Start(env_id, level, seed), moves_of(data.get("moves")), sha256 if isinstance(sha256, str) else None
    )


def _move(data: Any) -> Move:
    if isinstance(data, dict) and data.keys() == {"expert"}:
        return Move(as_text(data["expert"]), "expert")
    return Move(as_text(data))
