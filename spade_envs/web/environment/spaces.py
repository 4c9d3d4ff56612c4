"""What an environment takes and gives, as its own worker declares it: spaces in words, tools as an agent is told."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from spade_envs.contract import Rejection
from spade_envs.errors import UsageError
from spade_envs.isolation import InstanceInfo, Worker
from spade_envs.spoken import expected
from spade_envs.web.environment.subject import Head, Subject

_AT_ONCE = threading.BoundedSemaphore(2)
"""How many workers are asked at a time."""


@dataclass(frozen=True, slots=True)
class Declared:
    """What an instance declares.

    Attributes:
        observation, action: the spaces.
        expected: what an agent is told to write.
        tools: function schemas in OpenAI's form.
        begins: what an agent reads first, at level 1 and seed 0.
    """

    observation: str
    action: str
    expected: str
    action_names: tuple[str, ...]
    tools: tuple[dict[str, Any], ...]
    begins: str


@dataclass(frozen=True, slots=True)
class Spaces:
    """The page."""

    head: Head
    declared: Declared


def spaces(one: Subject) -> Spaces:
    """Return the page.

    Raises:
        WorkerFault: the design fails.
        UsageError: it is refused by now.
    """
    return Spaces(one.head, declared(one.entry.source, one.entry.header.difficulty_levels))


@lru_cache(maxsize=256)
def declared(source: str, levels: int | None) -> Declared:
    """Return what a design declares. Raises as :func:`spaces` does."""
    with _AT_ONCE:
        worker = Worker.start()
        try:
            loaded = worker.load(source)
            if isinstance(loaded, Rejection):
                raise UsageError(f"the source is refused:\n{loaded.text(source=source)}")
            info = worker.make(**({"difficulty": 1} if levels else {}))
            observation, _ = worker.reset(info.index, 0)
            text = worker.render(info.index) if info.has_render else None
            return _declared(info, str(observation) if text is None else text)
        finally:
            worker.close()


def _declared(info: InstanceInfo, begins: str) -> Declared:
    told = "a call of one of the tools" if info.tools else expected(info.action_space, info.action_names)
    names = info.action_names or ()
    return Declared(
        str(info.observation_space), str(info.action_space), told, tuple(names), tuple(info.tools), begins
    )
