"""Who holds which words, remembered word by word: what many ask for is looked up once while nothing changes."""

from __future__ import annotations

from functools import partial, reduce

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from spade_envs.records import searching
from spade_envs.records.columns import Columns
from spade_envs.registry.remembered import Remembered
from spade_envs.registry.store import Registry

RANKED = 300
"""Where more versions than these hold the words, they stand by name: none of so many is the one that is looked for."""
_ROOM = 4_000_000
"""How many places are remembered in all, of eight bytes each."""

Shelves = list[tuple[Registry, Connection]]
Places = NDArray[np.int64]


class Spotter:
    """Finds the versions of some columns by words; threads may share it.

    Args:
        columns: the versions, of the registries that are asked.
    """

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._words: Remembered[str, Places] = Remembered(_ROOM, len)

    def holding(self, shelves: Shelves, text: str) -> Places:
        """Return the places of the versions that hold all words of a text, each as a beginning of a word.

        They stand by name or, where they are few enough, the best first. Raises RegistryError.
        """
        found = [self._words.get(word, partial(self._looked_up, shelves, word)) for word in _words(text)]
        places = reduce(_in_both, sorted(found, key=len))
        return self._best_first(shelves, places, text) if len(places) <= RANKED else places

    def _looked_up(self, shelves: Shelves, word: str) -> Places:
        parts = [
            index.of(np.array(searching.holding(connection, word), np.int64))
            for index, (_, connection) in zip(self._columns.index, shelves, strict=True)
        ]
        return np.sort(np.concatenate([*parts, np.empty(0, np.int64)]))

    def _best_first(self, shelves: Shelves, places: Places, text: str) -> Places:
        weights = np.zeros(len(places), np.int64)
        for part, (_, connection) in enumerate(shelves):
            own = np.flatnonzero(self._columns.parts[places] == part)
            keys = self._columns.keys[places[own]].tolist()
            fits = searching.fitting(connection, keys, text) if keys else {}
            weights[own] = [fits.get(key, 0) for key in keys]
        return places[np.argsort(-weights, kind="stable")]


def _in_both(fewer: Places, more: Places) -> Places:
    """Return what two hold, each of them growing."""
    return fewer[np.isin(fewer, more, assume_unique=True)]


def _words(text: str) -> list[str]:
    """What has neither letter nor digit is no word: alone it finds nothing, beside others it does not matter."""
    words = dict.fromkeys(text.casefold().replace("\0", " ").split())
    return [word for word in words if any(map(str.isalnum, word))] or [text]
