"""An episode as data: enough to play it again to the same state, in any process."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from spade_envs.contract import file_sha256
from spade_envs.errors import UsageError
from spade_envs.isolation import wire


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of an episode, held as how to reach it. A snapshot can be restored any number of times.

    Attributes:
        source_sha256: hash of the design's file.
        arguments: those of its constructor.
        seed: what the episode was reset with.
        options: what it was reset with.
        actions: all that were taken since.
        observation: the last one, encoded: whoever plays the actions again must see it.
    """

    source_sha256: str
    arguments: dict[str, Any]
    seed: int
    options: dict[str, Any] | None
    actions: tuple[Any, ...]
    observation: bytes

    @classmethod
    def of(
        cls,
        source: str,
        arguments: dict[str, Any],
        begun: tuple[int, dict[str, Any] | None],
        actions: Sequence[Any],
        observation: Any,
    ) -> Self:
        """Return the snapshot of an episode that began with a seed and options."""
        return cls(
            file_sha256(source), copy.deepcopy(arguments), *begun, tuple(actions), wire.encode([observation])
        )

    def check(self, source: str, arguments: dict[str, Any]) -> None:
        """Let an environment pass that may return to this state, or raise UsageError."""
        if file_sha256(source) != self.source_sha256:
            raise UsageError("the snapshot is of another design: restore it where it was taken")
        if arguments != self.arguments:
            raise UsageError(f"the snapshot is of an environment made with {self.arguments}, not {arguments}")

    def shows(self, observation: Any) -> bool:
        """Say whether an observation is the one that was seen last."""
        return wire.encode([observation]) == self.observation
