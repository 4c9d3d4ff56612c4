"""The versions that can be played, as an address names them."""

from __future__ import annotations

import random
from collections.abc import Callable

from spade_envs.contract import EnvId, Header
from spade_envs.envs import chosen_level
from spade_envs.errors import UsageError
from spade_envs.registry.stack import Stack, find
from spade_envs.registry.versions import Entry
from spade_envs.web.play.episodes import read_seed
from spade_envs.web.play.game import Start


class Catalogue:
    """Finds versions.

    Args:
        stack: returns the registries that are asked, the topmost last.
    """

    def __init__(self, stack: Callable[[], Stack]) -> None:
        self._stack = stack

    def entry(self, env_id: EnvId) -> Entry:
        """Return a version as it lies in its registry.

        Raises:
            UnknownEnvironment: there is none.
            RegistryError: its files are broken.
        """
        registry, found = find(str(env_id), self._stack())
        return registry.entry(found)

    def source(self, start: Start) -> str:
        """Return the design that a start names. Raises as :meth:`entry` does."""
        return self.entry(start.env_id).source

    def start(self, name: str, level: str | None, seed: str | None) -> Start:
        """Return what an address names: a version, the newest where it says none, a level and a seed.

        Raises:
            UnknownEnvironment: there is no such version.
            UsageError: it has no such level, or that is no seed.
        """
        registry, env_id = find(name, self._stack())
        header: Header = registry.header(env_id)
        wanted = None if level is None else read_level(level)
        chosen = chosen_level(header, wanted)
        return Start(env_id, chosen, random.randrange(1_000_000) if seed is None else read_seed(seed))


def read_level(text: str) -> int:
    """Return the level that a text is. Raises UsageError where it is none."""
    if not text.isascii() or not text.isdigit() or len(text) > 4 or int(text) < 1:
        raise UsageError(f"a level is a whole number from 1, found {text[:40]!r}")
    return int(text)
