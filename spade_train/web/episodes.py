"""Episodes of a run to be read, without and with the hint, as the site shows episodes next to each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from spade_envs.contract import EnvId
from spade_envs.errors import RegistryError
from spade_envs.registry.stack import Stack, holder_of
from spade_envs.text_face import ActionFormat
from spade_envs.web.play.side_by_side import Column, Piece, SideBySide, joined, replay_address
from spade_train.report.episodes import Pair, Shown, pair_at
from spade_train.report.gathering import Beginning
from spade_train.report.reading import RunReader
from spade_train.runs.views import settings

LISTED = 100
"""How many beginnings a page lists."""


@dataclass(frozen=True, slots=True)
class Episodes:
    """The page.

    Attributes:
        beginnings: round, counted from 0, environment, level and seed, the newest first.
        total: how many there are.
        shown: one pair; None where there is none at all.
    """

    name: str
    beginnings: tuple[Beginning, ...]
    total: int
    shown: SideBySide | None


def episodes(name: str, wanted: Beginning | None, stack: Stack, reader: RunReader) -> Episodes | None:
    """Return the page, with the newest pair or the one that is wanted; None where that is not there.

    Args:
        name: the run's.
        wanted: which pair; None for the newest.
        stack: the registries whose versions can be played.
        reader: of the run.
    """
    reader.read()
    known = reader.episodes()
    chosen = wanted or (known[0] if known else None)
    pair = pair_at(reader, chosen) if chosen else None
    if wanted is not None and pair is None:
        return None
    shown = side_by_side(pair, _face(reader) if _is_held(pair.env_id, stack) else None) if pair else None
    return Episodes(name, tuple(known[:LISTED]), len(known), shown)


def side_by_side(pair: Pair, face: str | None) -> SideBySide:
    """Return a pair as the site's own value; its round is counted from 1, as people do.

    Args:
        pair: both episodes.
        face: how actions are marked in them; None where the version cannot be played here.
    """
    columns = tuple(
        _column(one, "" if face is None else _replay(pair, one, face)) for one in (pair.plain, pair.hinted)
    )
    return SideBySide(pair.env_id, pair.level, pair.seed, columns, pair.round + 1)


def _column(one: Shown, replay: str) -> Column:
    pieces = joined(tuple(Piece(part.text, part.role, part.sampled) for part in one.parts))
    return Column(
        one.hinted, one.trained, pieces, one.return_, one.success, one.turns, one.end, replay=replay
    )


def _face(reader: RunReader) -> str:
    played = settings(reader.run).get("selfplay")
    return str(played.get("action_format", "xml")) if isinstance(played, dict) else "xml"


def _replay(pair: Pair, one: Shown, face: str) -> str:
    """Return where an episode is shown step by step; a reply as a whole ends in a token that is no part of it."""
    known: ActionFormat | None = next(
        (kind for kind in get_args(ActionFormat) if kind == face != "raw"), None
    )
    replies = [part.text for part in one.parts if part.sampled]
    return replay_address(pair.env_id, pair.level, pair.seed, replies, known) if known else ""


def _is_held(env_id: str, stack: Stack) -> bool:
    version = EnvId.parse(env_id)
    try:
        return isinstance(version, EnvId) and holder_of(version, stack) is not None
    except RegistryError:  # two registries disagree about it
        return False
