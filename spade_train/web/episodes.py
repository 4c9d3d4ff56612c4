"""Episodes of a run to be read, without and with the hint, as the site shows episodes next to each other."""

from __future__ import annotations

from dataclasses import dataclass

from spade_envs.web.play.side_by_side import Column, Piece, SideBySide, joined
from spade_train.report.episodes import Pair, Shown, pair_at
from spade_train.report.gathering import Beginning
from spade_train.report.reading import RunReader

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


def episodes(name: str, wanted: Beginning | None, reader: RunReader) -> Episodes | None:
    """Return the page, with the newest pair or the one that is wanted; None where that is not there."""
    reader.read()
    known = reader.episodes()
    chosen = wanted or (known[0] if known else None)
    pair = pair_at(reader, chosen) if chosen else None
    if wanted is not None and pair is None:
        return None
    return Episodes(name, tuple(known[:LISTED]), len(known), side_by_side(pair) if pair else None)


def side_by_side(pair: Pair) -> SideBySide:
    """Return a pair as the site's own value; its round is counted from 1, as people do."""
    columns = (_column(pair.plain), _column(pair.hinted))
    return SideBySide(pair.env_id, pair.level, pair.seed, columns, pair.round + 1)


def _column(one: Shown) -> Column:
    pieces = joined(tuple(Piece(part.text, part.role, part.sampled) for part in one.parts))
    return Column(one.hinted, one.trained, pieces, one.return_, one.success, one.turns, one.end)
