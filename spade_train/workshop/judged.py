"""Designs of one prompt with their verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from spade_envs import Admission, Panel
from spade_train.rounds import Design
from spade_train.workshop.verdicts import Verdict, settled


@dataclass(frozen=True)
class Judged:
    """Designs of one prompt with their verdicts; nothing is written yet.

    Attributes:
        panel: who compared them, and with what.
        designs: those without a source are refused already.
        verdicts: one for each design with a source.
        made: how they were made, as admission records it.
    """

    panel: Panel
    designs: tuple[Design, ...]
    verdicts: tuple[Verdict, ...]
    made: Mapping[str, Any] = field(default_factory=dict)

    @property
    def sources(self) -> list[str]:
        """The sources, in order."""
        return [design.source for design in self.designs if design.source is not None]

    @property
    def provenances(self) -> list[dict[str, Any]]:
        """How each source was made."""
        of = (design for design in self.designs if design.source is not None)
        return [
            {**self.made, "mends": list(one.mends), "repairs": one.repairs}
            | ({"hint": one.hint} if one.hint else {})
            for one in of
        ]

    @property
    def pairs(self) -> list[tuple[Design, Verdict | None]]:
        """Each design with its verdict; None where it has no source."""
        mine = iter(self.verdicts)
        return [(one, None if one.source is None else next(mine)) for one in self.designs]

    def of(self, pairs: Sequence[tuple[Design, Verdict | None]]) -> Judged:
        """Return other designs of the same prompt with their verdicts."""
        verdicts = tuple(verdict for _, verdict in pairs if verdict is not None)
        return replace(self, designs=tuple(design for design, _ in pairs), verdicts=verdicts)

    def settled(self, admissions: Sequence[Admission]) -> list[Design]:
        """Return the designs as what has become of their sources."""
        mine = iter(admissions)
        return [one if one.source is None else settled(one, next(mine)) for one in self.designs]
